"""The commands that join all layers: `run` and `doctor`; each returns its exit code."""

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop import paths, settings
from desktop.core import backups
from desktop.core.catalogue import Catalogue
from desktop.core.errors import ModelUnavailable, NacreError
from desktop.core.media import BUDGET, media_of
from desktop.credentials.closed_process import close_this_process
from desktop.diagnostics import LogFile, Redaction, in_words
from desktop.headless import report
from desktop.headless.credential import have_key
from desktop.headless.looking import resolve_tab
from desktop.headless.opening import now_ms, prepared
from desktop.headless.printing import printable, printer_for
from desktop.headless.runtime import Runtime, start
from desktop.tools.attachments.reading import attachment_of

_LOG = logging.getLogger(__name__)
DONE, FAILED, BAD_USE, NO_CREDENTIAL = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The words of `nacre run`; see DESIGN.md §8."""

    text: str
    workspace: str | None = None
    tab: str | None = None
    model: str | None = None
    effort: str | None = None
    permission: Any = None
    store: str | None = None
    attach: tuple[str, ...] = ()
    as_json: bool = False


def run(data_dir: str | None, options: RunOptions) -> int:
    """One turn in a new or an existing conversation."""
    text = _standard_input() if options.text == "-" else options.text
    if not text.strip() and not options.attach:
        return _bad_use("there is nothing to send: the text is empty")

    async def work(runtime: Runtime) -> int:
        if options.workspace is None and options.tab is None:
            return await _list_workspaces(runtime.catalogue)
        if not await have_key(runtime.access):
            return NO_CREDENTIAL
        attachments = await _attachments(options.attach)
        tab_id = await _tab_for(runtime, options)
        await runtime.connect_tools()
        await runtime.commands.choose(
            tab_id, model=options.model, effort=options.effort, mode=options.permission
        )
        check = asyncio.create_task(runtime.check_file(), name="check the file")
        try:
            return await _turn(runtime, tab_id, text, attachments, as_json=options.as_json)
        finally:
            check.cancel()
            await asyncio.wait({check})

    return _with_runtime(data_dir, work, store=options.store)


def doctor(data_dir: str | None, *, as_json: bool) -> int:
    """What is installed, where the data is, and whether the log is sound."""

    async def work(runtime: Runtime) -> int:
        found = {**await report.examine(runtime), "log": await runtime.doctor()}
        if as_json:
            print(json.dumps(found, default=str))
        else:
            print("\n".join(report.lines(found)))
        await _doubt_backup(runtime)
        return DONE if found["log"].get("ok", True) else FAILED

    return _with_runtime(data_dir, work)


async def _doubt_backup(runtime: Runtime) -> None:
    """Says on standard error when the last good backup is older than the person wants."""
    wanted = settings.read(await runtime.catalogue.settings()).value(settings.BACKUP_INTERVAL)
    last = (await runtime.backup_notes()).last
    if last is not None and backups.is_stale(last, wanted, now_ms()):
        days = (now_ms() - last.created_at) // backups.DAY_MS
        _report(f"the last good backup is {days} days old. `nacre backup` makes one.")


def _with_runtime(
    data_dir: str | None, work: Callable[[Runtime], Awaitable[int]], *, store: str | None = None
) -> int:
    close_this_process()
    choice = paths.choose(data_dir)
    redaction = Redaction()
    for notice in (*choice.notices, *prepared(choice.folder)):
        print(f"nacre: {notice}", file=sys.stderr)
    log_file = LogFile(choice.folder.logs, redaction)

    async def whole() -> int:
        runtime = await start(
            choice.folder, redaction=redaction, has_person=False, store=store, report=_report
        )
        if runtime.notice and not runtime.is_read_only:  # that was said when it was prepared
            _report(runtime.notice)
        try:
            await runtime.find_key()
            return await work(runtime)
        finally:
            await runtime.close()

    try:
        return asyncio.run(whole())
    except ModelUnavailable as error:
        print(f"nacre: {error}", file=sys.stderr)
        return NO_CREDENTIAL
    except NacreError:
        raise
    except Exception as error:
        _LOG.exception("the command failed")
        sentence, detail = in_words(error, redaction)
        print(f"nacre: {sentence}\n{detail}\nMore in {log_file.path}", file=sys.stderr)
        return FAILED
    finally:
        log_file.close()


# -- run --------------------------------------------------------------------------------------


async def _attachments(files: Sequence[str]) -> list[dict[str, Any]]:
    """Raises NacreError naming the first file that can't go with the message, and why."""
    found = [await attachment_of(Path(file)) for file in files]
    if not BUDGET.holds([media for one in found if (media := media_of(one)) is not None]):
        raise NacreError(
            "These files are more than one message can show.", way_out="Attach fewer of them."
        )
    return found


async def _turn(
    runtime: Runtime,
    tab_id: str,
    text: str,
    attachments: Sequence[dict[str, Any]],
    *,
    as_json: bool,
) -> int:
    """Sends, prints what comes, and ends with the turn; Ctrl+C stops it first."""
    printer = printer_for(as_json=as_json)
    unsubscribe = runtime.hub.subscribe(printer, tab_id=tab_id)
    loop = asyncio.get_running_loop()
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        stopping.add(loop.create_task(runtime.commands.stop(tab_id), name="stop"))

    handled = sys.platform != "win32"
    for number in (signal.SIGINT, signal.SIGTERM) if handled else ():
        loop.add_signal_handler(number, stop)
    try:
        await runtime.commands.send(tab_id, text, attachments)
        await runtime.until_idle()
        if stopping:
            await asyncio.gather(*stopping, return_exceptions=True)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM) if handled else ():
            loop.remove_signal_handler(number)
        unsubscribe()
    return DONE if printer.outcome == "done" else FAILED


async def _tab_for(runtime: Runtime, options: RunOptions) -> str:
    if options.workspace is None:
        tab_id = await resolve_tab(runtime.catalogue, options.tab or "")
        await runtime.go_on(tab_id)
        return tab_id
    workspace = await runtime.catalogue.open_workspace(Path(options.workspace))
    tab = await runtime.begin(workspace.id)
    if not options.as_json and options.store != "null":
        print(f"conversation {tab.id}", file=sys.stderr)
    return tab.id


async def _list_workspaces(catalogue: Catalogue) -> int:
    view = await catalogue.view()
    print("nacre run: say where: --workspace DIR or --tab ID", file=sys.stderr)
    if view.workspaces:
        print("Known folders:", file=sys.stderr)
    for workspace in view.workspaces:
        print(f"  {printable(workspace.directory)}", file=sys.stderr)
    return BAD_USE


def _standard_input() -> str:
    """All of it; what is no UTF-8 becomes U+FFFD instead of an error."""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _report(sentence: str) -> None:
    print(f"nacre: {printable(sentence)}", file=sys.stderr)


def _bad_use(sentence: str) -> int:
    print(f"nacre run: {sentence}", file=sys.stderr)
    return BAD_USE
