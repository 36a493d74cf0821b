"""What a conversation sends up, in the three ways there are, and what each costs by the price list.

Sixty steps over HTTP to the strict stand-in for the provider; each reads a file of source code.
"""

from collections.abc import Iterable, Sequence

from desktop.core.chunks import ToolCall
from desktop.wire.uploads import Uploads
from tests.bench import Figure
from tests.bench._account import paid_to_least
from tests.fakes.messages_api import MessagesServer, Received, reply, text, thinking, tool_use
from tests.unit.wire.asking import asking
from tests.unit.wire.rows_of import OPUS, ROOT, Log

STEPS = 60
MEGABYTE = 1_000_000


def figures() -> Iterable[Figure]:
    whole = 0
    for name, compresses, threads, goal in (
        ("whole", False, False, 1.0),
        ("compressed", True, False, 0.4),
        ("threads", False, True, 0.1),
        ("threads_compressed", True, True, 0.05),
    ):
        requests = _had(compresses=compresses, threads=threads)
        sent = sum(one.sent_bytes for one in requests)
        whole = whole or sent
        yield Figure(f"upload.{name}", sent / whole, "x", goal)
        yield Figure(f"upload.{name}_cost", paid_to_least(requests), "x", 1.01)
    yield Figure("upload.whole_bytes", whole / MEGABYTE, "MB", 100)


def _had(*, compresses: bool, threads: bool) -> Sequence[Received]:
    sources = [path.read_text("utf-8") for path in sorted((ROOT / "desktop").rglob("*.py"))]
    steps = [
        reply(thinking(f"step {at}"), text("Reading."), tool_use("read_file", {"path": f"f{at}"}))
        for at in range(STEPS)
    ]
    log = Log()
    with (
        MessagesServer(steps) as server,
        asking(server.base_url, uploads=Uploads(compresses=compresses), threads=threads) as one,
    ):
        log.stamp = one.model.stamp(OPUS)
        log.prompt("You work in a folder. " * 40)
        log.user("read on")
        for at in range(STEPS):
            log.step = at
            before = len(log.rows)
            log.heard(one.ask(log.rows))
            for row in log.rows[before:]:
                if isinstance(row.data, ToolCall):
                    log.result(row.data.call_id, sources[at % len(sources)])
    assert not server.rejected
    return server.requests
