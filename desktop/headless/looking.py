"""The commands that only look: `tabs`, `show` and `search`. They load the log and nothing else."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from desktop import paths
from desktop.core.catalogue import Catalogue
from desktop.core.chunks import DamagedRow, payload_to_json
from desktop.core.cursor import Cursor
from desktop.core.errors import UnknownConversation
from desktop.core.records import CatalogueView, SearchHit, SearchPlace, Tab
from desktop.headless.opening import open_log, prepared
from desktop.headless.printing import printable
from desktop.headless.stores import Stores
from desktop.store.log import Log
from desktop.store.timeline import AgentTimelineStore

DONE = 0
PAGE = 100
OTHER_LOG = (
    "nacre: that row is not in this conversation any more (was a backup brought back?)."
    " Here are the last rows; those from before don't go with them."
)

Shelf = Literal["all", "archived", "bin"]


@dataclass(frozen=True, slots=True)
class Piece:
    """At most `limit` rows of a conversation: after a row, before one, or (neither) the last."""

    limit: int
    after: Cursor | None = None
    before: Cursor | None = None


def tabs(data_dir: str | None, *, of: Shelf, as_json: bool) -> int:
    """The conversations of a shelf, the latest last; not those in which nothing was said (S12)."""

    async def work(log: Log, stores: Stores) -> int:
        view = await log.catalogue.view()
        thrown = await log.catalogue.trashed_tabs()
        if of == "bin":
            found = thrown
        else:
            found = tuple(one for one in view.tabs if of == "all" or one.archived_at is not None)
            found = tuple(one for one in found if one.title or one.last_message_at is not None)
        for tab in sorted(found, key=lambda one: one.last_message_at or one.created_at):
            _print_tab(view, tab, as_json=as_json)
        if thrown and of == "all" and not as_json:
            print(f"nacre: {len(thrown)} more in the bin: nacre tabs --bin", file=sys.stderr)
        return DONE

    return _with_log(data_dir, work)


def show(data_dir: str | None, tab: str, *, as_json: bool, piece: Piece | None = None) -> int:
    """The rows of a conversation, page by page: nothing grows with its length. Or a piece of it."""

    async def work(log: Log, stores: Stores) -> int:
        tab_id = await resolve_tab(log.catalogue, tab)
        if piece is not None:
            timeline = AgentTimelineStore(stores.reader)
            await _print_piece(timeline, tab_id, piece, as_json=as_json)
            return DONE
        after = 0
        while True:
            page = await stores.reader.page(tab_id, limit=PAGE, after=after)
            for row in page.rows:
                _print_row(row, as_json=as_json)
                after = row.seq
            if not page.has_newer or not page.rows:
                return DONE

    return _with_log(data_dir, work)


def search(data_dir: str | None, text: str, *, limit: int, as_json: bool) -> int:
    """The newest rows that match, at most `limit`; printed as they are found."""

    async def work(log: Log, stores: Stores) -> int:
        place: SearchPlace | None = None
        left = limit
        has_seen_files = False
        while left > 0:
            has_seen_files = has_seen_files or bool(place and place.file)
            page = await stores.search.find(text, limit=min(left, PAGE), place=place)
            for hit in page.hits:
                _print_hit(hit, as_json=as_json)
            left -= len(page.hits)
            place = page.next
            if place is None:
                break
        if left == limit:
            print("Nothing was found.", file=sys.stderr)
        if place is not None and not has_seen_files:
            await _tell_unseen(stores)
        return DONE

    return _with_log(data_dir, work)


async def _tell_unseen(stores: Stores) -> None:
    """The database alone had as many hits as were asked for: the files were not looked at."""
    count = len(await stores.search.files())
    if count:
        _say(
            f"conversations that are kept as files ({count}) were not looked at;"
            " a larger --limit looks at them."
        )


async def resolve_tab(catalogue: Catalogue, text: str) -> str:
    """The conversation whose id is `text` or the only one that begins so, be it in the bin."""
    tabs = (*(await catalogue.view()).tabs, *await catalogue.trashed_tabs())
    found = [tab.id for tab in tabs if tab.id.startswith(text)] if text else []
    if text in found:
        return text
    if len(found) == 1:
        return found[0]
    raise UnknownConversation(
        f"No conversation has the id {text}." if not found else f"{text} begins several ids.",
        way_out="`nacre tabs` lists them.",
    )


def _with_log(data_dir: str | None, work: Callable[[Log, Stores], Awaitable[int]]) -> int:
    choice = paths.choose(data_dir)
    for notice in (*choice.notices, *prepared(choice.folder)):
        print(f"nacre: {notice}", file=sys.stderr)

    async def whole() -> int:
        log = await asyncio.to_thread(open_log, choice.folder)
        stores = Stores(log, choice=None, report=_say)
        try:
            return await work(log, stores)
        finally:
            await stores.close()
            await log.close()

    return asyncio.run(whole())


def _say(sentence: str) -> None:
    print(f"nacre: {printable(sentence)}", file=sys.stderr)


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
                    "archivedAt": tab.archived_at,
                    "trashedAt": tab.trashed_at,
                    "parentTabId": tab.parent_tab_id,
                }
            )
        )
        return
    title = f"{printable(tab.title or '(no title)')}  {printable(directory)}"
    print(f"{tab.id}  {title}{_state(tab)}")


def _state(tab: Tab) -> str:
    if tab.trashed_at is not None:
        return f"  (in the bin since {_day_and_time(tab.trashed_at)})"
    if tab.archived_at is not None:
        return f"  (archived {_day_and_time(tab.archived_at)})"
    return ""


async def _print_piece(
    timeline: AgentTimelineStore, tab_id: str, piece: Piece, *, as_json: bool
) -> None:
    """As JSON the first line says where one is, and whether what one had is of another log."""
    if piece.after is not None:
        page = await timeline.after(tab_id, piece.after, limit=piece.limit)
    elif piece.before is not None:
        page = await timeline.before(tab_id, piece.before, limit=piece.limit)
    else:
        page = await timeline.tail(tab_id, limit=piece.limit)
    if as_json:
        where = {
            "first": str(page.first),
            "last": str(page.last),
            "hasOlder": page.has_older,
            "hasNewer": page.has_newer,
            "isReset": page.is_reset,
        }
        print(json.dumps({"page": where}))
    elif page.is_reset:
        print(OTHER_LOG, file=sys.stderr)
    for row in page.rows:
        _print_row(row, as_json=as_json)
    if page.has_older and not as_json:
        print(f"nacre: older rows: --before {page.first}", file=sys.stderr)
    if page.has_newer and not as_json:
        print(f"nacre: newer rows: --after {page.last}", file=sys.stderr)


def _print_hit(hit: SearchHit, *, as_json: bool) -> None:
    if as_json:
        print(
            json.dumps(
                {
                    "tabId": hit.tab_id,
                    "title": hit.title,
                    "directory": hit.directory,
                    "seq": hit.seq,
                    "role": hit.role,
                    "type": hit.type,
                    "createdAt": hit.created_at,
                    "snippet": hit.snippet,
                    "marks": hit.marks,
                }
            )
        )
        return
    place = f"{hit.title or '(no title)'}  {hit.directory}"
    print(f"{hit.tab_id} [{hit.seq}]  {_day_and_time(hit.created_at)}  {printable(place)}")
    print(f"{hit.role} {hit.type}: {printable(' '.join(_with_marks(hit).split()))}\n")


def _day_and_time(ms: int) -> str:
    """In the person's own time zone; a time that no calendar has is left as its number."""
    try:
        return f"{datetime.fromtimestamp(ms / 1_000, UTC).astimezone():%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError, OSError):
        return str(ms)


def _with_marks(hit: SearchHit) -> str:
    """The snippet with its matches between » and «."""
    parts: list[str] = []
    end = 0
    for low, high in hit.marks:
        parts += [hit.snippet[end:low], "»", hit.snippet[low:high], "«"]
        end = high
    return "".join([*parts, hit.snippet[end:]])


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
