#!/usr/bin/env bash
# Not built here; see packaging/README.md. Makes a signed, notarised and stapled disk image of the
# bundle, on macOS with Xcode's command line tools:
#
#   python3 packaging/build.py --target bundle
#   NACRE_IDENTITY="Developer ID Application: …" NACRE_PROFILE=… packaging/macos/make.sh
#
# NACRE_IDENTITY names a certificate in the keychain, NACRE_PROFILE what `xcrun notarytool
# store-credentials` keeps there; neither is ever written down. Without an identity the program is
# signed ad hoc, which is enough to try it on this machine alone.
set -euo pipefail
cd "$(dirname "$0")/../.."

app=build/bundle/Nacre.app
[ -d "$app" ] || { echo "There is no $app: run packaging/build.py --target bundle first." >&2; exit 1; }
version=$(python3 -c 'import sys; sys.path.insert(0, "packaging"); import facts; print(facts.facts().version)')
image="build/packages/Nacre-$version-$(uname -m).dmg"
identity=${NACRE_IDENTITY:--}
mkdir -p build/packages

# From the inside out: a signature covers the signatures of what lies within.
sign() { codesign --force --timestamp"${1:-}" --options runtime --sign "$identity" "${@:2}"; }
stamp=""
[ "$identity" != "-" ] || stamp="=none"
find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' -o -perm -u+x \) -print0 |
  while IFS= read -r -d '' file; do
    if file -b "$file" | grep -q Mach-O; then sign "$stamp" "$file"; fi
  done
sign "$stamp" --entitlements packaging/macos/entitlements.plist "$app"
codesign --verify --deep --strict --verbose=2 "$app"
QT_QPA_PLATFORM=offscreen "$app/Contents/MacOS/nacre" --selftest

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$app" "$folder/"
ln -s /Applications "$folder/Applications"
rm -f "$image"
hdiutil create -volname "Nacre $version" -srcfolder "$folder" -fs HFS+ -format UDZO "$image"

if [ -n "${NACRE_PROFILE:-}" ]; then
  sign "$stamp" "$image"
  xcrun notarytool submit "$image" --keychain-profile "$NACRE_PROFILE" --wait
  xcrun stapler staple "$image"
  spctl --assess --type open --context context:primary-signature --verbose "$image"
else
  echo "Not notarised: NACRE_PROFILE is not set. Others' Macs will refuse to open it." >&2
fi
echo "$image"
