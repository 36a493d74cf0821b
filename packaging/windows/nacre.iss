; Not built here; see packaging/README.md. Inno Setup 6.4 or newer:
;   iscc /DVersion=… /DBundle=build\bundle\nacre /Ssign="signtool sign … $f" packaging\windows\nacre.iss
; Installs for the person alone, without an administrator, and can be told to install for all.

#ifndef Version
  #error Version is told by the release workflow, from pyproject.toml
#endif
#define Root "..\.."

[Setup]
; Never to change: by it a newer version replaces this one.
AppId={{6E0C2B5B-3C1E-4F0A-9E0B-6A1E8C0D5F27}
AppName=Nacre
AppVersion={#Version}
AppVerName=Nacre {#Version}
AppPublisher=Nacre developers
VersionInfoVersion={#Version}
DefaultDirName={autopf}\Nacre
DefaultGroupName=Nacre
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog commandline
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
LicenseFile={#Root}\LICENSE
SetupIconFile={#Root}\build\icons\nacre.ico
UninstallDisplayIcon={app}\nacre.exe
OutputDir={#Root}\build\packages
OutputBaseFilename=Nacre-{#Version}-setup
Compression=lzma2/max
SolidCompression=yes
WizardStyle=modern
ChangesEnvironment=yes
; A running Nacre is asked to close, and not started again: an update never restarts by itself.
CloseApplications=yes
RestartApplications=no
#ifdef Sign
SignTool=sign
SignedUninstaller=yes
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: "path"; Description: "nacre in the command line (PATH)"; Flags: unchecked

[InstallDelete]
; Libraries of the version before that this one no longer has.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Root}\build\bundle\nacre\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Nacre"; Filename: "{app}\nacrew.exe"; AppUserModelID: "org.nacre.Nacre"
Name: "{autodesktop}\Nacre"; Filename: "{app}\nacrew.exe"; Tasks: desktopicon; AppUserModelID: "org.nacre.Nacre"

[Registry]
; nacre://tab/ID?seq=N
Root: HKA; Subkey: "Software\Classes\nacre"; ValueType: string; ValueData: "URL:Nacre"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\nacre"; ValueType: string; ValueName: "URL Protocol"; ValueData: ""
Root: HKA; Subkey: "Software\Classes\nacre\DefaultIcon"; ValueType: string; ValueData: "{app}\nacre.exe,0"
Root: HKA; Subkey: "Software\Classes\nacre\shell\open\command"; ValueType: string; ValueData: """{app}\nacrew.exe"" ""%1"""
Root: HKA; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Tasks: path; Check: not IsAdminInstallMode and IsMissingOnPath

[Run]
Filename: "{app}\nacrew.exe"; Description: "{cm:LaunchProgram,Nacre}"; Flags: nowait postinstall skipifsilent

[Code]
function IsMissingOnPath: Boolean;
var
  Known: string;
begin
  if not RegQueryStringValue(HKCU, 'Environment', 'Path', Known) then
    Known := '';
  Result := Pos(';' + Uppercase(ExpandConstant('{app}')) + ';', ';' + Uppercase(Known) + ';') = 0;
end;
