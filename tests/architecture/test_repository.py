"""What the repository as a whole must hold, and what must not be in it."""

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.source import ROOT, files, name_of

LOCK = ROOT / "packaging" / "requirements.lock"
PROSE = {".md", ".txt"}
# In two pieces, so that this file does not name them either.
INDEX_HOSTS = re.compile("|".join(["pypi" + r"\.org", "python" + "hosted", "conda" + r"\.io"]))
API_KEY = re.compile(r"sk-ant-[A-Za-z0-9_-]{8,}")


def text_files() -> dict[str, str]:
    """Name and text of every file that is text."""
    texts: dict[str, str] = {}
    for file in files(ROOT):
        try:
            texts[name_of(file)] = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return texts


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return text_files()


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pinned() -> dict[str, list[Requirement]]:
    """The lock by package name; a package stands twice when its version depends on the Python."""
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if "==" in line]
    pins: dict[str, list[Requirement]] = {}
    for line in lines:
        requirement = Requirement(line.removesuffix("\\").strip())
        pins.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return pins


def test_the_lock_names_no_place_where_packages_come_from() -> None:
    lock = LOCK.read_text(encoding="utf-8")
    assert "://" not in lock
    assert "--index" not in lock
    assert "--find-links" not in lock


def test_every_package_of_the_lock_has_a_hash() -> None:
    lock = LOCK.read_text(encoding="utf-8").replace("\\\n", " ")
    entries = [line for line in lock.splitlines() if line and not line.startswith("#")]
    assert len(entries) > 50
    assert not [entry for entry in entries if "--hash=sha256:" not in entry]


def test_the_lock_holds_what_the_project_asks_for_and_its_build_back_end(
    project: dict[str, Any], pinned: dict[str, list[Requirement]]
) -> None:
    metadata = project["project"]
    wanted: list[str] = [*metadata["dependencies"], *project["build-system"]["requires"]]
    wanted += metadata["optional-dependencies"]["dev"]
    for text in wanted:
        requirement = Requirement(text)
        pins = pinned.get(canonicalize_name(requirement.name), [])
        versions = [next(iter(pin.specifier)).version for pin in pins]
        assert any(requirement.specifier.contains(version) for version in versions), text


def test_the_lock_serves_other_systems_and_newer_pythons(
    pinned: dict[str, list[Requirement]],
) -> None:
    windows = {"sys_platform": "win32", "python_version": "3.13", "python_full_version": "3.13.1"}
    (colorama,) = pinned["colorama"]
    assert colorama.marker
    assert colorama.marker.evaluate(windows)
    qt = [
        str(pin.specifier)
        for pin in pinned["pyside6-essentials"]
        if pin.marker and pin.marker.evaluate(windows)
    ]
    assert len(qt) == 1
    assert not qt[0].startswith("==6.11")


def test_no_file_names_a_package_index(texts: dict[str, str]) -> None:
    named = [
        name
        for name, text in texts.items()
        if INDEX_HOSTS.search(text) and not name.endswith(tuple(PROSE))
    ]
    assert not named


def test_no_key_is_written_down_outside_the_tests(texts: dict[str, str]) -> None:
    found = [
        name
        for name, text in texts.items()
        if API_KEY.search(text) and not name.startswith("tests/")
    ]
    assert not found


def test_the_packaging_folder_does_not_shadow_the_library_of_that_name() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_the_licence_is_there_and_named(project: dict[str, Any]) -> None:
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert project["project"]["license"] == "MIT"


def test_the_readme_gives_the_two_commands(texts: dict[str, str]) -> None:
    readme = texts["README.md"]
    assert "python3 packaging/dev.py run" in readme
    assert "python3 packaging/dev.py test" in readme
    assert "python3 packaging/dev.py test" in texts[".ci/run"]
