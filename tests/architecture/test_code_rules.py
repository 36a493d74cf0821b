"""Rules of the code that neither ruff nor the import contracts can say (STYLE: Qt and asyncio)."""

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, ROOTS, name_of, python_files, tree_of

MODULES = python_files(PACKAGE)
NESTING_CALLS = {"exec", "exec_", "processEvents"}
NESTING_NAMES = {"processEvents", "asyncSlot", "asyncClose"}
LOGGERS = {"_log", "log", "logger", "_logger"}
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}


def nested_loops(tree: ast.Module, *, sql: bool = False) -> Iterator[str]:
    """Places that would run an event loop inside the event loop.

    Two names are innocent: a drag starts straight from a mouse event, and `exec` of a database
    session (`sql`) runs a statement.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="drag"), attr="exec")):
                pass
            case ast.Call(func=ast.Attribute(attr=name)) if name in NESTING_CALLS and not (
                sql and name == "exec"
            ):
                yield f"line {node.lineno}: .{name}()"
            case ast.Name(id=name) if name in NESTING_NAMES:
                yield f"line {node.lineno}: {name}"
            case ast.Attribute(attr=name) if name in NESTING_NAMES:
                yield f"line {node.lineno}: {name}"
            case ast.ImportFrom(module=module) if module and module.startswith("PySide6"):
                if any(alias.name == "QEventLoop" for alias in node.names):
                    yield f"line {node.lineno}: QEventLoop"
            case ast.Attribute(value=ast.Name(id=owner), attr="QEventLoop") if owner != "qasync":
                yield f"line {node.lineno}: {owner}.QEventLoop"
            case _:
                pass


def late_imports(tree: ast.Module) -> Iterator[str]:
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    yield f"line {node.lineno}: import inside {function.name}"


def said_into_logs(tree: ast.Module) -> Iterator[str]:
    """Sentences for the log that are not constants: a part of one could be anybody's words."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=level) if (
                name.lower() in LOGGERS and level in LEVELS
            ):
                pass
            case _:
                continue
        call = next((one for one in ast.walk(tree) if _calls(one, node)), None)
        first = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
            yield f"line {node.lineno}: what is logged is no constant"


def _calls(node: ast.AST, function: ast.AST) -> bool:
    return isinstance(node, ast.Call) and node.func is function


def offences(
    modules: Iterable[Path], rule: Callable[[Path], Iterable[str]]
) -> dict[str, list[str]]:
    """What a rule finds, by file; empty when all is well."""
    found = {name_of(module): list(rule(module)) for module in modules}
    return {name: places for name, places in found.items() if places}


def test_no_event_loop_runs_inside_the_event_loop() -> None:
    def rule(module: Path) -> Iterator[str]:
        return nested_loops(tree_of(module), sql=name_of(module).startswith("desktop/store/"))

    assert not offences(MODULES, rule)


@pytest.mark.parametrize(
    "code",
    [
        "dialog.exec()",
        "menu.exec_(point)",
        "app.processEvents()",
        "QApplication.processEvents()",
        "pump = app.processEvents",
        "from PySide6.QtCore import QEventLoop",
        "QtCore.QEventLoop()",
        "@asyncSlot()\ndef f(): pass",
        "@qasync.asyncClose\ndef f(): pass",
    ],
)
def test_a_nested_event_loop_is_found(code: str) -> None:
    assert list(nested_loops(ast.parse(code)))


@pytest.mark.parametrize("code", ["drag.exec(actions)", "qasync.QEventLoop(app)"])
def test_a_drag_and_the_one_loop_are_not_taken_for_nested_ones(code: str) -> None:
    assert not list(nested_loops(ast.parse(code)))


def test_only_the_roots_import_inside_functions() -> None:
    others = [module for module in MODULES if not name_of(module).startswith(ROOTS)]
    assert not offences(others, lambda module: late_imports(tree_of(module)))


def test_an_import_inside_a_function_is_found() -> None:
    code = "class A:\n    async def f(self):\n        if self:\n            from x import y\n"
    assert list(late_imports(ast.parse(code)))


def test_every_module_with_code_says_what_it_is() -> None:
    silent = [
        name_of(module)
        for module in MODULES
        if tree_of(module).body and not ast.get_docstring(tree_of(module))
    ]
    assert not silent, "a module opens with its idea"


def test_no_module_or_folder_has_a_name_that_says_nothing() -> None:
    def rule(module: Path) -> set[str]:
        return VAGUE.intersection(module.relative_to(ROOT).with_suffix("").parts)

    assert not offences(MODULES, rule)


def test_every_file_is_python_3_11() -> None:
    for file in python_files(PACKAGE, ROOT / "tests", ROOT / "packaging"):
        ast.parse(file.read_text(encoding="utf-8"), name_of(file), feature_version=(3, 11))


def test_f9_every_sentence_of_the_log_is_a_constant() -> None:
    assert not offences(MODULES, lambda module: said_into_logs(tree_of(module)))


@pytest.mark.parametrize(
    "code",
    [
        "_LOG.info(sentence)",
        "_log.warning(f'{name} failed')",
        "logger.error('it failed: ' + str(error))",
        "_logger.exception(error)",
        "report = logger.warning",
        "start(report=_LOG.warning)",
    ],
)
def test_f9_a_sentence_that_is_made_up_is_found(code: str) -> None:
    assert list(said_into_logs(ast.parse(code)))


def test_f9_a_constant_sentence_with_values_is_none_of_these() -> None:
    assert not list(said_into_logs(ast.parse("_LOG.info('%s of %d', error, count)")))
