"""The map of DESIGN §3 as import-linter contracts: the tree keeps them, and each one can break."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
CONTRACTS = {
    contract["id"]: contract["name"] for contract in CONFIGURATION["importlinter"]["contracts"]
}
# One violation of each contract, as a module of a program that has every layer and nothing else.
VIOLATIONS = {
    "layers": ("tools/wrong_way.py", "import desktop.feed"),
    "roots": ("ui/past_the_root.py", "import desktop.store"),
    "acyclic": ("agent/ring.py", "import desktop.agent.ring_too"),
    "core-pure": ("core/impure.py", "import asyncio"),
    "door-qt": ("feed/door_qt.py", "from PySide6.QtCore import QObject"),
    "door-qasync": ("ui/door_qasync.py", "import qasync"),
    "door-provider": ("agent/door_provider.py", "import anthropic.types"),
    "door-database": ("feed/door_database.py", "import sqlite3"),
    "door-keyring": ("wire/door_keyring.py", "import keyring"),
    "door-text": ("feed/door_text.py", "from markdown_it import MarkdownIt"),
    "door-pathspec": ("agent/door_pathspec.py", "import pathspec"),
    "door-pictures": ("agent/door_pictures.py", "from PIL import Image"),
    "door-mcp": ("tools/mcp/past_the_link.py", "import mcp.client"),
    "door-plugins": ("plugins/door_process.py", "import subprocess"),
    "door-filelock": ("agent/door_filelock.py", "import filelock"),
    "door-platformdirs": ("settings.py", "import platformdirs"),
}
# What each door lets in, so that the contracts forbid no more than they say.
ALLOWED = {
    "app/__init__.py": "import qasync, desktop.store, desktop.wire, desktop.credentials",
    "app/fine.py": "import qasync, PySide6.QtWidgets",
    "headless/fine.py": "import desktop.store, desktop.wire, desktop.credentials",
    "ui/fine.py": "import PySide6.QtCore, markdown_it, mdit_py_plugins, pygments",
    "wire/fine.py": "import anthropic, httpx2",
    "store/fine.py": "import sqlmodel, sqlalchemy, alembic, sqlite3, filelock",
    "credentials/fine.py": "import keyring, secretstorage",
    "credentials/sealing.py": "import cryptography.hazmat",
    "credentials/key_file.py": "import filelock",
    "tools/fine.py": "import pathspec",
    "tools/mcp/__init__.py": "",
    "tools/mcp/link.py": "import mcp, mcp_types, anyio",
    "tools/mcp/writing.py": "import filelock",
    "plugins/process.py": "import subprocess, desktop.tools.launching",
    "tools/launching.py": "",
    "paths.py": "import platformdirs",
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def small_program(folder: Path) -> Path:
    """A package with every layer of the real contracts and nothing but imports that are allowed."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    package = folder / "desktop"
    modules = ["__init__", "__main__", "cli", "settings", "diagnostics"]
    packages = [
        "app",
        "headless",
        "ui",
        "agent",
        "plugins",
        "feed",
        "tools",
        "store",
        "wire",
        "credentials",
        "core",
    ]
    for name in [*modules, *(f"{name}/__init__" for name in packages)]:
        write(package / f"{name}.py", "")
    for name, code in ALLOWED.items():
        write(package / name, code + "\n")
    write(package / "agent/ring_too.py", "")
    return package


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_the_program_keeps_its_import_contracts() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_what_the_doors_let_in_is_allowed(tmp_path: Path) -> None:
    small_program(tmp_path)
    result = lint(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the linter says of a program that breaks every contract once."""
    folder = tmp_path_factory.mktemp("contracts")
    package = small_program(folder)
    write(package / "agent/ring_too.py", "import desktop.agent.ring\n")
    for name, code in VIOLATIONS.values():
        write(package / name, code + "\n")
    return lint(folder).stdout


@pytest.mark.parametrize("contract", CONTRACTS)
def test_each_contract_refuses_its_violation(contract: str, broken: str) -> None:
    assert f"{CONTRACTS[contract]} BROKEN" in broken, broken


def test_every_contract_has_a_violation_to_prove_it() -> None:
    assert set(VIOLATIONS) == set(CONTRACTS)
