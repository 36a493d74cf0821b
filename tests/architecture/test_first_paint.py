"""Before the first paint none of the slow libraries is loaded (DESIGN §3)."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.architecture.source import PACKAGE, ROOT, module_of, python_files
from tests.bench import _homes
from tests.bench.first_paint import Started, started

SLOW = (
    *("anthropic", "mcp", "sqlmodel", "alembic", "keyring", "pygments", "markdown_it"),
    *("cryptography", "PIL"),
)
# What the window needs to come up; everything else is loaded by the root when it stands.
EARLY = ("paths", "settings", "diagnostics", "cli", "app", "ui", "ui.main_window", "ui.theme")
# The values of the log, and whoever has to do with them: the first picture shows none of it.
LATER = (
    *(f"desktop.{layer}" for layer in ("store", "wire", "agent", "feed", "tools", "credentials")),
    *("desktop.headless", "desktop.plugins", "desktop.diagnostics"),
    *(f"desktop.core.{name}" for name in ("chunks", "records", "status", "events", "model")),
    *("importlib.metadata", "sqlite3", "hashlib", "PySide6.QtNetwork"),
)


def early_modules() -> list[str]:
    modules = [module_of(file) for file in python_files(PACKAGE / "core")]
    for name in EARLY:
        place = PACKAGE / name.replace(".", "/")
        if place.with_suffix(".py").exists() or (place / "__init__.py").exists():
            modules.append(f"desktop.{name}")
    return modules


@pytest.fixture(scope="module")
def full_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Of a home with open tabs, a tool server that hangs and a provider that never answers."""
    root = tmp_path_factory.mktemp("home") / "full"
    with _homes.full(root, conversations=40, rows=60) as home:
        yield started("nacre_watched", home, "tail", "0.5")


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


@pytest.mark.timeout(300)
def test_u10_the_command_paints_first_and_loads_the_slow_libraries_and_the_log_later(
    full_start: Started,
) -> None:
    loaded = full_start.report["modules"]
    assert [name for name in (*SLOW, *LATER) if name in loaded] == []


@pytest.mark.timeout(300)
def test_u10_before_the_paint_no_network_keyring_process_or_database_is_touched(
    full_start: Started,
) -> None:
    assert full_start.report["touched"] == []


@pytest.mark.timeout(300)
def test_u10_the_last_words_come_with_a_hung_tool_server_and_a_provider_that_never_answers(
    full_start: Started,
) -> None:
    assert full_start.report["tail_ns"] > full_start.report["painted_ns"]


@pytest.mark.timeout(300)
def test_u09_of_twenty_tabs_only_the_one_in_view_is_loaded(full_start: Started) -> None:
    assert (full_start.report["tabs"], full_start.report["pages"]) == (_homes.TABS, 1)


@pytest.mark.timeout(300)
def test_u05_the_providers_library_waits_for_who_asks_it(full_start: Started) -> None:
    assert "anthropic" not in full_start.report["modules_at_end"]


def test_u10_what_shows_the_last_conversation_early_loads_nothing_slow() -> None:
    slow = ("sqlalchemy", "sqlmodel", "pydantic", "anthropic", "mcp", "keyring", "PIL", "alembic")
    code = f"import sys, desktop.app.early\nprint(sorted(set({slow!r}) & set(sys.modules)))\n"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["looking", "commands"])
def test_the_commands_without_a_window_load_no_qt_and_not_the_providers_library(
    module: str,
) -> None:
    """The library is loaded by the transport's thread when a request goes out (DESIGN §6)."""
    code = (
        f"import sys, desktop.cli, desktop.headless.{module}\n"
        "print(sorted({'PySide6', 'qasync', 'anthropic', 'keyring', 'cryptography', 'alembic'}"
        " & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
