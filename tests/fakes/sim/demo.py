"""Answers for when no script is at hand: an echo for tests, a small show for a person."""

from __future__ import annotations

from tests.fakes.sim import models
from tests.fakes.sim.problems import Json
from tests.fakes.sim.received import Received
from tests.fakes.sim.replies import Block, Reply, fails, reply, text, thinking, tool_use
from tests.fakes.sim.rules.thinking import kind_of

PACE_MS = 25
GREETING = """\
Hello! I am a **stand-in** for the model: everything here is real except my wits.

* the request came over HTTP and was checked by the provider's rules
* this text arrives *piece by piece*
* `code` and tables work too

```python
def layer(previous: str, block: str) -> str:
    return previous + block  # a sealed layer is never rewritten
```

| part | state |
|---|---|
| stream | alive |
| cache | counted |

You wrote: {said}
"""
SUMMARY = """\
I looked around with **{tools}**. Here is what came back:

{shown}

That is all a stand-in can make of it. Ask again and I look again.
"""


def echo(received: Received) -> Reply:
    """Say what was said, or that results came."""
    if received.tool_results:
        return reply(f"Got {len(received.tool_results)} tool results.")
    return reply(f"You said: {received.last_text}")


def ended(received: Received) -> Reply:
    """A server error: the script has no answer to this request."""
    return fails(500, message=f"the script has no reply to request {received.number}")


def demo(received: Received) -> Reply:
    """Think, look into the folder with the reading tools on offer, then sum up."""
    results = received.tool_results
    called = _called(received)
    if not results and "list_dir" in received.tool_names:
        return _show(
            received,
            "The person wants something. First I look at what is in the folder.",
            text("Let me look at the folder first."),
            tool_use("list_dir", {"path": "."}),
        )
    if "list_dir" in called and "read_file" in received.tool_names and (name := _file(results)):
        return _show(
            received,
            f"{name} looks like a good place to begin.",
            tool_use("read_file", {"path": name}),
        )
    if results:
        shown = "\n".join(f"> {line}" for line in _text(results).splitlines()[:12])
        said = SUMMARY.format(tools=", ".join(called), shown=shown or "> (nothing)")
        return _show(received, "Now I can sum up.", text(said, chunk=6))
    said = GREETING.format(said=received.last_text)
    return _show(received, "A greeting, and a little of everything.", text(said, chunk=6))


def _show(received: Received, thought: str, *blocks: Block) -> Reply:
    model = models.find(str(received.json.get("model"))) or models.MODELS[0]
    thinks = kind_of(received.json, model) in ("adaptive", "enabled")
    shown = (thinking(thought, chunk=6), *blocks) if thinks else blocks
    return reply(*shown).paced(PACE_MS)


def _called(received: Received) -> list[str]:
    """The tools the results answer."""
    ids = {block["tool_use_id"] for block in received.tool_results}
    return [
        str(block["name"])
        for message in received.messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_use" and block["id"] in ids
    ]


def _text(results: list[Json]) -> str:
    parts: list[str] = []
    for result in results:
        content = result.get("content") or ""
        if isinstance(content, str):
            parts.append(content)
            continue
        parts.extend(str(block.get("text", "")) for block in content)
    return "\n".join(parts)


def _file(results: list[Json]) -> str | None:
    """A file named in a listing, a readme by preference."""
    words = [word.strip(",:;\"'`") for word in _text(results).split()]
    names = [word for word in words if "." in word.strip(".") and not word.endswith("/")]
    readmes = [name for name in names if name.lower().startswith("readme")]
    return next(iter([*readmes, *names]), None)
