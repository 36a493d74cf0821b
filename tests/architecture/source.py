"""The repository's own files, as the tests in this folder read them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "desktop"
# The composition roots load what must not be there before the first paint.
ROOTS = ("desktop/app", "desktop/headless", "desktop/cli.py")
NOT_OURS = {".git", ".venv", "__pycache__", "build", "dist", "node_modules"}


def name_of(file: Path) -> str:
    """The path below the root, with forward slashes."""
    return file.relative_to(ROOT).as_posix()


def files(*folders: Path) -> Iterator[Path]:
    """Every file below the folders, by name; caches, builds and environments left out."""
    for folder in folders:
        for entry in sorted(folder.iterdir()):
            if entry.name in NOT_OURS or entry.name.endswith(("_cache", ".egg-info")):
                continue
            if entry.is_dir():
                yield from files(entry)
            else:
                yield entry


def python_files(*folders: Path) -> list[Path]:
    return [file for file in files(*folders) if file.suffix == ".py"]


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), name_of(file))


def module_of(file: Path) -> str:
    """The dotted name of a module of the program."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
