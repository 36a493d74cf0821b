"""What the packages are made from is whole and agrees with the program; quick, nothing is built.

The packages themselves are tried on bare machines by `packaging/test_packages.py`, by hand.
"""

import ast
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from desktop import cli
from desktop.app.start import APP_ID
from desktop.diagnostics import LIBRARIES
from desktop.tools.builtin.grep import SEARCH_OPTION
from tests.architecture.source import ROOT, files, name_of

PACKAGING = ROOT / "packaging"
LICENCES = ROOT / "resources" / "licences"
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Loads a script of `packaging` by name, as the scripts load each other."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(PACKAGING))
    monkeypatch.syspath_prepend(str(PACKAGING / "frozen"))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        place = getattr(sys.modules[name], "__file__", None) or ""
        if place.startswith(str(PACKAGING)):
            del sys.modules[name]


def locked(name: str) -> dict[str, set[str]]:
    text = (PACKAGING / name).read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for package, version in LOCKED.findall(text):
        found.setdefault(package, set()).add(version)
    return found


# -- one place for each fact ----------------------------------------------------------------------


def test_the_version_stands_in_one_place() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    places = [*files(PACKAGING), *files(ROOT / ".github"), *files(ROOT / "desktop")]
    spelled = re.compile(rf"(?<![\d.]){re.escape(version)}(?![\d.])")
    texts = [one for one in places if one.suffix not in (".lock", ".pyc")]
    naming = [name_of(one) for one in texts if spelled.search(one.read_text("utf-8", "replace"))]
    # A fragment of the changelog, or a decision, may speak of a version.
    assert [one for one in naming if not one.endswith(".md")] == []


def test_window_desktop_file_icon_and_metainfo_have_the_same_name(scripts: Any) -> None:
    tree = scripts("linux_tree")
    assert scripts("facts").facts().app_id == APP_ID
    assert f"Icon={APP_ID}\n" in tree.desktop_file()
    # An X11 window has the name of the application for its class (seen with xprop).
    assert "StartupWMClass=Nacre\n" in tree.desktop_file()
    assert 'setApplicationName("Nacre")' in (ROOT / "desktop/app/start.py").read_text("utf-8")
    assert f"<id>{APP_ID}</id>" in tree.metainfo()
    assert f'desktop-id">{APP_ID}.desktop<' in tree.metainfo()


def test_no_template_is_left_with_a_gap(scripts: Any) -> None:
    tree, deb, rpm = scripts("linux_tree"), scripts("deb"), scripts("rpm_package")
    filled = [tree.desktop_file(), tree.metainfo(), tree.changelog(), deb.control_file(2048)]
    filled.append(rpm.spec_file(PACKAGING / "linux"))
    for text in filled:
        assert not re.search(r"@[A-Z_]+@", text), text


def test_no_script_of_packaging_names_this_machine() -> None:
    hosts = re.compile(r"https?://(?!www\.debian\.org/doc/)\S+")
    for file in files(PACKAGING):
        if file.suffix in (".py", ".spec", ".in", ".lock") or file.parent.name == "debian":
            text = file.read_text(encoding="utf-8")
            assert not hosts.search(text), name_of(file)
            assert str(ROOT) not in text, name_of(file)


# -- what is bundled ------------------------------------------------------------------------------


def test_the_bundle_has_the_versions_that_the_tests_have_seen() -> None:
    ours, bundled = locked("requirements.lock"), locked("bundle.lock")
    differing = {name for name in ours.keys() & bundled.keys() if ours[name] != bundled[name]}
    assert differing == set()


def test_the_bundle_holds_nothing_of_the_tests_and_its_lock_names_no_place() -> None:
    text = (PACKAGING / "bundle.lock").read_text(encoding="utf-8")
    assert "://" not in text
    entries = [one for one in text.replace("\\\n", " ").splitlines() if "==" in one]
    assert [one for one in entries if "--hash=sha256:" not in one] == []
    assert (
        locked("bundle.lock").keys() & {"pytest", "hypothesis", "ruff", "pypdf", "psutil"} == set()
    )


def test_everything_that_is_bundled_has_its_licence(scripts: Any) -> None:
    licences = scripts("licences")
    lacking = [
        name
        for name in licences.bundled()
        if name not in licences.ELSEWHERE and not (LICENCES / f"{name}.txt").is_file()
    ]
    assert lacking == [], "python3 packaging/build.py --licences"
    for file in LICENCES.glob("*.txt"):
        assert len(file.read_text(encoding="utf-8")) > 300, name_of(file)
    assert set(licences.TOOLS) - set(licences.locked()) == set()


def test_the_metadata_that_the_program_asks_for_is_bundled(scripts: Any) -> None:
    contents = scripts("contents")
    assert {*LIBRARIES, "nacre"} <= set(contents.METADATA)


def test_what_a_shipped_plugin_imports_is_bundled(scripts: Any) -> None:
    there = set(scripts("contents").standard_library()) | set(sys.builtin_module_names)
    for file in (ROOT / "resources" / "plugins").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {one.name.partition(".")[0] for one in node.names} <= there, name_of(file)


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/platforms/libqwayland.so", True),
        ("PySide6/Qt/plugins/platforms/libqoffscreen.so", True),
        ("PySide6/Qt/plugins/platforms/libqeglfs.so", False),
        ("PySide6/Qt/plugins/platformthemes/libqxdgdesktopportal.so", True),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", False),
        ("PySide6/Qt/plugins/iconengines/libqsvgicon.so", True),
        ("PySide6/Qt/lib/libQt6Core.so.6", True),
        ("PySide6/Qt/lib/libQt6Network.so.6", True),
        ("PySide6/Qt/lib/libQt6Svg.so.6", True),
        ("PySide6/Qt/lib/libicudata.so.73", True),
        ("PySide6/Qt/lib/libQt6Quick.so.6", False),
        ("PySide6/Qt/lib/libQt6Pdf.so.6", False),
        ("PySide6/Qt/translations/qtbase_de.qm", True),
        ("PySide6/Qt/translations/qtdeclarative_de.qm", False),
        ("libxcb-cursor.so.0", True),
        ("libxcb-randr.so.0", True),
        ("libsqlite3.so.0", True),
        ("libssl.so.3", True),
        ("libgtk-3.so.0", False),
        ("libX11.so.6", False),
        ("libjpeg.so.62", False),
        ("libjpeg-6dc8d115.so.62.4.0", True),
        ("libblkid.so.1", False),
        ("nacre-9.dist-info/METADATA", True),
        ("nacre-9.dist-info/direct_url.json", False),
        ("resources/licences/anthropic.txt", True),
    ],
)
def test_of_qt_and_the_system_only_what_is_needed_stays(
    name: str, stays: bool, scripts: Any
) -> None:
    assert scripts("contents").stays(name) is stays


# -- the entry of the packaged program -----------------------------------------------------------


def test_children_of_the_packaged_program_get_the_persons_paths_back(
    scripts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry: ModuleType = scripts("entry")
    given = {
        "LD_LIBRARY_PATH": "/bundle",
        "LD_LIBRARY_PATH_ORIG": "/opt/mine",
        "QT_PLUGIN_PATH": "/bundle/plugins",
        "QML2_IMPORT_PATH": "/home/me/qml",
        "_PYI_ARCHIVE_FILE": "/bundle/nacre",
        "PATH": "/usr/bin",
    }
    monkeypatch.setattr(os, "environ", given)
    entry.restore_environment("/bundle")
    assert given == {
        "LD_LIBRARY_PATH": "/opt/mine",
        "QML2_IMPORT_PATH": "/home/me/qml",
        "PATH": "/usr/bin",
    }


def test_the_packaged_program_starts_the_search_as_it_is_asked_to() -> None:
    assert f'"{SEARCH_OPTION}"' in (PACKAGING / "frozen" / "entry.py").read_text("utf-8")


# -- what the machine is told --------------------------------------------------------------------


def test_the_desktop_hands_links_over(scripts: Any) -> None:
    lines = scripts("linux_tree").desktop_file().splitlines()
    assert "Exec=nacre %u" in lines
    assert "MimeType=x-scheme-handler/nacre;" in lines


@pytest.mark.parametrize(
    ("tool", "made", "words"),
    [
        ("desktop-file-validate", "desktop_file", ()),
        ("appstreamcli", "metainfo", ("validate", "--no-net")),
    ],
)
def test_what_the_desktop_reads_is_valid(
    tool: str, made: str, words: tuple[str, ...], scripts: Any, tmp_path: Path
) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not on this machine")
    suffix = "desktop" if made == "desktop_file" else "metainfo.xml"
    file = tmp_path / f"{APP_ID}.{suffix}"
    file.write_text(getattr(scripts("linux_tree"), made)(), encoding="utf-8")
    done = subprocess.run([tool, *words, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout.casefold()


def test_the_man_page_has_every_command_and_option() -> None:
    page = (PACKAGING / "linux" / "nacre.1").read_text(encoding="utf-8").replace("\\-", "-")
    parser = cli.parser()
    words = [word for action in parser._actions for word in action.option_strings]  # pyright: ignore
    assert [word for word in (*words, *cli.COMMANDS) if word not in page] == []


def test_the_debian_package_asks_for_what_it_cannot_do_without(scripts: Any) -> None:
    fields = dict(
        line.split(": ", 1)
        for line in scripts("deb").control_file(5 * 1024).splitlines()
        if re.match(r"[A-Z][\w-]*: ", line)
    )
    depends = {one.split(" ")[0] for one in fields["Depends"].split(", ")}
    assert {"ca-certificates", "libgl1", "libegl1", "libxkbcommon0", "libc6"} <= depends
    assert fields["Installed-Size"] == "5"
    assert fields["Version"] == scripts("facts").facts().version


def test_every_icon_that_is_drawn_is_packed(scripts: Any) -> None:
    drawn = ast.parse((PACKAGING / "icons.py").read_text(encoding="utf-8"))
    sizes = next(
        ast.literal_eval(node.value)
        for node in drawn.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SIZES"
    )
    assert sizes == scripts("linux_tree").SIZES


def test_the_files_for_other_systems_can_be_read_and_say_that_nobody_has_built_them() -> None:
    readme = (PACKAGING / "README.md").read_text(encoding="utf-8")
    for place in ("flatpak", "windows", "macos"):
        line = next(line for line in readme.splitlines() if f"`{place}/" in line)
        assert "not built here" in line
    manifest = yaml.safe_load((PACKAGING / "flatpak" / f"{APP_ID}.yml").read_text("utf-8"))
    assert manifest["id"] == APP_ID
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    assert {"linux", "windows", "macos", "flatpak"} <= set(workflow["jobs"])
    assert json.dumps(workflow).count("packaging/build.py") >= 3
