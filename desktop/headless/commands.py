"""The commands without a window: `run`, `tabs`, `show`, `doctor`; each returns its exit code."""

import asyncio
import json
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.core.chunks import DamagedRow, payload_to_json
from desktop.core.errors import ModelUnavailable, UnknownConversation
from desktop.core.protocols import Catalogue
from desktop.core.records import CatalogueView, Tab
from desktop.diagnostics import LogFile, Redaction, environment_report
from desktop.headless.printing import printable, printer_for
from desktop.headless.runtime import Runtime, start

DONE, FAILED, BAD_USE, NO_CREDENTIAL = 0, 1, 2, 3
PAGE = 100


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The words of `nacre run`; see DESIGN.md §8."""

    text: str
    workspace: str | None = None
    tab: str | None = None
    model: str | None = None
    effort: str | None = None
    permission: Any = None
    store: str = "sql"
    as_json: bool = False


def run(data_dir: str | None, options: RunOptions) -> int:
    """One turn in a new or an existing conversation."""
    text = sys.stdin.read() if options.text == "-" else options.text
    if not text.strip():
        return _bad_use("there is nothing to send: the text is empty")

    async def work(runtime: Runtime) -> int:
        if options.workspace is None and options.tab is None:
            return await _list_workspaces(runtime.catalogue)
        if not runtime.access.state().ready:
            return _no_credential(runtime)
        tab_id = await _tab_for(runtime, options)
        await runtime.commands.choose(
            tab_id, model=options.model, effort=options.effort, mode=options.permission
        )
        return await _turn(runtime, tab_id, text, options)

    return _with_runtime(data_dir, work, store=options.store)


def tabs(data_dir: str | None, *, as_json: bool) -> int:
    """All conversations, the latest last."""

    async def work(runtime: Runtime) -> int:
        view = await runtime.catalogue.view()
        for tab in sorted(view.tabs, key=lambda one: one.last_message_at or one.created_at):
            _print_tab(view, tab, as_json=as_json)
        return DONE

    return _with_runtime(data_dir, work)


def show(data_dir: str | None, tab: str, *, as_json: bool) -> int:
    """The rows of a conversation, page by page: nothing grows with its length."""

    async def work(runtime: Runtime) -> int:
        tab_id = await resolve_tab(runtime.catalogue, tab)
        after = 0
        while True:
            page = await runtime.reader.page(tab_id, limit=PAGE, after=after)
            for row in page.rows:
                _print_row(row, as_json=as_json)
                after = row.seq
            if not page.has_newer or not page.rows:
                return DONE

    return _with_runtime(data_dir, work)


def doctor(data_dir: str | None, *, as_json: bool) -> int:
    """What is installed, where the data is, and whether the log is sound."""

    async def work(runtime: Runtime) -> int:
        state = runtime.access.state()
        report = {
            **environment_report(runtime.folder, sqlite=sqlite_version()),
            "key": state.key_source,
            "server": state.base_url or "the provider's own",
            "keyring": state.keyring or "not asked",
            "log": await runtime.doctor(),
        }
        if as_json:
            print(json.dumps(report, default=str))
        else:
            _print_report(report)
        return DONE if report["log"].get("ok", True) else FAILED

    return _with_runtime(data_dir, work)


def _with_runtime(
    data_dir: str | None, work: Callable[[Runtime], Awaitable[int]], *, store: str = "sql"
) -> int:
    choice = paths.choose(data_dir)
    redaction = Redaction()
    for notice in (*choice.notices, *_prepared(choice.folder)):
        print(f"nacre: {notice}", file=sys.stderr)
    log_file = LogFile(choice.folder.logs, redaction)

    async def whole() -> int:
        runtime = await start(choice.folder, redaction=redaction, has_person=False, store=store)
        try:
            return await work(runtime)
        finally:
            await runtime.close()

    try:
        return asyncio.run(whole())
    except ModelUnavailable as error:
        print(f"nacre: {error}", file=sys.stderr)
        return NO_CREDENTIAL
    finally:
        log_file.close()


def _prepared(folder: paths.DataFolder) -> tuple[str, ...]:
    """Makes the folder ready; one that can't be written may still be read."""
    try:
        return folder.prepare()
    except paths.DataFolderError as error:
        if error.reason in ("read-only", "full") and folder.database.is_file():
            return (error.sentence,)
        raise


# -- run --------------------------------------------------------------------------------------


async def _turn(runtime: Runtime, tab_id: str, text: str, options: RunOptions) -> int:
    """Sends, prints what comes, and ends with the turn; Ctrl+C stops it first."""
    printer = printer_for(as_json=options.as_json)
    unsubscribe = runtime.hub.subscribe(printer, tab_id=tab_id)
    loop = asyncio.get_running_loop()
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        stopping.add(loop.create_task(runtime.commands.stop(tab_id), name="stop"))

    handled = sys.platform != "win32"
    for number in (signal.SIGINT, signal.SIGTERM) if handled else ():
        loop.add_signal_handler(number, stop)
    try:
        await runtime.commands.send(tab_id, text)
        await runtime.until_idle()
        if stopping:
            await asyncio.gather(*stopping, return_exceptions=True)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM) if handled else ():
            loop.remove_signal_handler(number)
        unsubscribe()
    return DONE if printer.outcome == "done" else FAILED


async def _tab_for(runtime: Runtime, options: RunOptions) -> str:
    if options.tab is not None:
        return await resolve_tab(runtime.catalogue, options.tab)
    workspace = await runtime.catalogue.open_workspace(Path(options.workspace or "").absolute())
    tab = await runtime.catalogue.create_tab(workspace.id)
    if not options.as_json:
        print(f"conversation {tab.id}", file=sys.stderr)
    return tab.id


async def resolve_tab(catalogue: Catalogue, text: str) -> str:
    """The conversation whose id is `text` or the only one that begins so."""
    view = await catalogue.view()
    found = [tab.id for tab in view.tabs if tab.id.startswith(text)] if text else []
    if text in found:
        return text
    if len(found) == 1:
        return found[0]
    raise UnknownConversation(
        f"No conversation has the id {text}." if not found else f"{text} begins several ids.",
        way_out="`nacre tabs` lists them.",
    )


async def _list_workspaces(catalogue: Catalogue) -> int:
    view = await catalogue.view()
    print("nacre run: say where: --workspace DIR or --tab ID", file=sys.stderr)
    if view.workspaces:
        print("Known folders:", file=sys.stderr)
    for workspace in view.workspaces:
        print(f"  {printable(workspace.directory)}", file=sys.stderr)
    return BAD_USE


def _no_credential(runtime: Runtime) -> int:
    state = runtime.access.state()
    print(
        "nacre: no key is set. Set ANTHROPIC_API_KEY, or enter a key in the window's settings.",
        file=sys.stderr,
    )
    if state.keyring_sentence:
        print(f"nacre: {state.keyring_sentence}", file=sys.stderr)
    return NO_CREDENTIAL


def _bad_use(sentence: str) -> int:
    print(f"nacre run: {sentence}", file=sys.stderr)
    return BAD_USE


# -- looking ----------------------------------------------------------------------------------


def _print_tab(view: CatalogueView, tab: Tab, *, as_json: bool) -> None:
    workspace = next((one for one in view.workspaces if one.id == tab.workspace_id), None)
    directory = workspace.directory if workspace else ""
    if as_json:
        print(
            json.dumps(
                {
                    "id": tab.id,
                    "title": tab.title,
                    "directory": directory,
                    "isOpen": tab.is_open,
                    "createdAt": tab.created_at,
                    "lastMessageAt": tab.last_message_at,
                }
            )
        )
    else:
        print(f"{tab.id}  {printable(tab.title or '(no title)')}  {printable(directory)}")


def _print_row(row: Any, *, as_json: bool) -> None:
    if isinstance(row, DamagedRow):
        found: dict[str, Any] = {"seq": row.seq, "id": row.id, "damaged": row.reason}
    else:
        found = {
            "seq": row.seq,
            "id": row.id,
            "turnId": row.turn_id,
            "step": row.step,
            "role": row.role,
            "type": row.type,
            "createdAt": row.created_at,
            "data": payload_to_json(row.data),
        }
    if as_json:
        print(json.dumps(found))
        return
    if isinstance(row, DamagedRow):
        print(f"[{row.seq}] damaged: {row.reason}")
        return
    data = found["data"]
    text = data.get("text") or data.get("result") or data.get("message") or ""
    if row.type == "tool_call":
        text = f"{data['name']} {json.dumps(data['arguments'])}"
    elif row.type == "system":
        text = f"{data['kind']}: {text}".rstrip(": ")
    print(f"[{row.seq}] {row.role} {row.type}\n{printable(text)}\n")


def _print_report(report: dict[str, Any], indent: str = "") -> None:
    for key, value in report.items():
        if isinstance(value, dict):
            print(f"{indent}{key}:")
            _print_report(value, indent + "  ")
        else:
            print(f"{indent}{key}: {value}")


def sqlite_version() -> str:
    return sqlite3.sqlite_version
