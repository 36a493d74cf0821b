"""Before the first paint none of the slow libraries is loaded (DESIGN §3)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, module_of, python_files

SLOW = (
    *("anthropic", "mcp", "sqlmodel", "alembic", "keyring", "pygments", "markdown_it"),
    *("cryptography", "PIL"),
)
# What the window needs to come up; everything else is loaded by the root when it stands.
EARLY = ("paths", "settings", "diagnostics", "cli", "app", "ui", "ui.main_window", "ui.theme")


def early_modules() -> list[str]:
    modules = [module_of(file) for file in python_files(PACKAGE / "core")]
    for name in EARLY:
        place = PACKAGE / name.replace(".", "/")
        if place.with_suffix(".py").exists() or (place / "__init__.py").exists():
            modules.append(f"desktop.{name}")
    return modules


def test_what_the_window_needs_imports_nothing_slow() -> None:
    code = (
        "import importlib, json, sys\n"
        f"for name in {early_modules()!r}: importlib.import_module(name)\n"
        f"print(json.dumps([name for name in {SLOW!r} if name in sys.modules]))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == []


def test_the_program_paints_first_and_loads_the_slow_libraries_later(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.bench.drivers.nacre_window", str(tmp_path)]
    result = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, cwd=ROOT, timeout=60
    )
    assert result.returncode == 0, result.stderr
    loaded = json.loads(result.stdout.splitlines()[-1])["modules"]
    assert [name for name in SLOW if name in loaded] == []


@pytest.mark.parametrize("module", ["looking", "commands"])
def test_the_commands_without_a_window_load_no_qt_and_not_the_providers_library(
    module: str,
) -> None:
    """The library is loaded by the transport's thread when a request goes out (DESIGN §6)."""
    code = (
        f"import sys, desktop.cli, desktop.headless.{module}\n"
        "print(sorted({'PySide6', 'qasync', 'anthropic', 'keyring', 'cryptography'}"
        " & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
