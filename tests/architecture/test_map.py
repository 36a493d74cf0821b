"""The map (`desktop/ARCHITECTURE.md`) names what is there: folders, modules, decisions, words."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, python_files

MAP = (PACKAGE / "ARCHITECTURE.md").read_text("utf-8")
NAMES = sorted(set(re.findall(r"`([^`\n]+)`", MAP)))
# Where a name without its folder may lie; a name of a test is looked for everywhere.
FOLDERS = (ROOT, PACKAGE, ROOT / "tests", PACKAGE / "ui", PACKAGE / "tools", PACKAGE / "tools/mcp")
MODULES = [*python_files(PACKAGE, ROOT / "tests", ROOT / "packaging")]
CODE = "\n".join(file.read_text("utf-8") for file in MODULES)
COMMANDS = {"lint-imports", "nacre doctor", "/name"}


def has(file: Path, part: str) -> bool:
    """Whether a module has each word of a dotted name."""
    text = file.read_text("utf-8") if file.is_file() else ""
    return all(re.search(rf"\b{re.escape(word)}\b", text) for word in part.split("."))


def is_there(name: str) -> bool:
    """Whether a name is a file or folder, a part of a module, or a word of the code."""
    if name.startswith("decisions/"):
        return len(list(PACKAGE.glob(f"{name}-*.md"))) == 1
    if name.startswith("python -m "):
        module = name.split()[2].replace(".", "/")
        return (ROOT / module).is_dir() or (ROOT / f"{module}.py").is_file()
    if re.fullmatch(r"[0-9]{4}", name):
        return is_there(f"decisions/{name}")
    name = name.partition("(")[0].partition(" --")[0]
    if any((folder / f"{name}{end}").exists() for folder in FOLDERS for end in ("", ".py")):
        return True
    if any(name in (file.stem, file.name) for file in MODULES):
        return True
    module, _, part = name.partition(".")
    if "/" in module:
        files = [folder / f"{module}.py" for folder in FOLDERS]
        return any(has(file, part) for file in files)
    last = re.split(r"[./ ]", name)[-1]
    return re.search(rf"\b{re.escape(last)}\b", CODE) is not None


@pytest.mark.parametrize("name", [one for one in NAMES if ">" not in one and one not in COMMANDS])
def test_what_the_map_names_is_there(name: str) -> None:
    assert is_there(name)


def test_a_name_that_is_not_there_is_found() -> None:
    assert not is_there("core/nowhere")
    assert not is_there("core/chunks.NoSuchThing")
    assert not is_there("decisions/9999")
    assert not is_there("tests/unit/no_such_test")


def test_every_part_of_the_program_stands_on_the_map() -> None:
    parts = {
        path.stem
        for path in PACKAGE.iterdir()
        if (path.is_dir() or path.suffix == ".py") and not path.name.startswith("_")
    } - {"decisions"}
    told = set(re.findall(r"`(\w+)`", MAP.split("## What must stay true")[0]))
    layers = set(re.findall(r"\w+", MAP.split("`__main__")[1].split("`")[0]))
    assert parts <= told | layers
    assert layers <= parts


def test_the_layers_of_the_map_are_those_that_are_checked() -> None:
    written = "__main__" + MAP.split("`__main__")[1].split("`")[0]
    levels = [set(re.findall(r"\w+", level)) for level in written.split(">")]
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (checked,) = [one["layers"] for one in contracts if one["id"] == "layers"]
    assert levels == [set(re.findall(r"\w+", level)) for level in checked]
