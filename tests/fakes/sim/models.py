"""What each model takes, as one table (API §3.7); every rule that differs by model reads it here.

The values are the provider's, the behaviour built on them is in `rules`, `signatures` and `cache`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Model:
    """One row of the table. Sizes are tokens."""

    id: str
    released: str
    thinking: tuple[str, ...]
    thinking_default: str
    display_default: str = "omitted"
    efforts: tuple[str, ...] = ALL_EFFORTS
    effort_default: str = "high"
    cache_minimum: int = 512
    prefill: bool = False
    forced_tool_choice: bool = False
    system_role: bool = True
    binds_prefix: bool = True
    keeps_thinking: bool = True
    window: int = 1_000_000
    output: int = 128_000
    tool_prompt: int = 286
    deprecated: str | None = None

    @property
    def line(self) -> str:
        """`opus`, `sonnet`, `haiku`, `fable` or `mythos`."""
        return self.id.split("-")[1]

    @property
    def name(self) -> str:
        """The name a person reads: `Claude Opus 5.5`."""
        _, line, *version = self.id.split("-")
        return f"Claude {line.capitalize()} {'.'.join(version)}"


def _row(short: str, released: str, thinking: str, default: str, **rest: Any) -> Model:
    return Model(
        id=f"claude-{short}",
        released=released,
        thinking=tuple(thinking.split()),
        thinking_default=default,
        **rest,
    )


_FOUR: dict[str, Any] = {"system_role": False, "forced_tool_choice": True}
_FOUR_FIVE: dict[str, Any] = _FOUR | {
    "display_default": "summarized",
    "prefill": True,
    "binds_prefix": False,
    "window": 200_000,
    "output": 64_000,
}

MODELS: tuple[Model, ...] = (
    _row("fable-5-2", "2026-11-09", "adaptive", "adaptive"),
    _row("mythos-5-2", "2026-11-09", "adaptive", "adaptive"),
    _row(
        "haiku-5-5",
        "2026-10-07",
        "adaptive disabled",
        "adaptive",
        effort_default="medium",
        forced_tool_choice=True,
    ),
    _row("sonnet-5-5", "2026-09-28", "adaptive between_tools", "adaptive"),
    _row("opus-5-5", "2026-09-22", "adaptive", "adaptive", effort_default="medium"),
    _row("fable-5-1", "2026-09-01", "adaptive", "adaptive"),
    _row("mythos-5-1", "2026-09-01", "adaptive", "adaptive"),
    _row("opus-5", "2026-07-24", "adaptive disabled", "adaptive", forced_tool_choice=True),
    _row("fable-5", "2026-06-09", "adaptive", "adaptive", forced_tool_choice=True),
    _row("mythos-5", "2026-06-09", "adaptive", "adaptive", forced_tool_choice=True),
    _row(
        "sonnet-5",
        "2026-06-09",
        "adaptive disabled",
        "adaptive",
        cache_minimum=1024,
        tool_prompt=354,
        **_FOUR,
    ),
    _row(
        "opus-4-8",
        "2026-04-16",
        "adaptive disabled",
        "disabled",
        cache_minimum=1024,
        forced_tool_choice=True,
    ),
    _row("opus-4-7", "2026-03-12", "adaptive disabled", "disabled", cache_minimum=2048, **_FOUR),
    _row(
        "opus-4-6",
        "2026-02-05",
        "adaptive enabled disabled",
        "disabled",
        cache_minimum=4096,
        display_default="summarized",
        efforts=("low", "medium", "high", "max"),
        **_FOUR,
    ),
    _row(
        "sonnet-4-6",
        "2026-02-17",
        "adaptive enabled disabled",
        "disabled",
        cache_minimum=1024,
        display_default="summarized",
        efforts=("low", "medium", "high", "max"),
        **_FOUR,
    ),
    _row(
        "opus-4-5",
        "2025-11-01",
        "enabled disabled",
        "disabled",
        cache_minimum=4096,
        efforts=("low", "medium", "high"),
        deprecated="2027-01-22",
        **_FOUR_FIVE,
    ),
    _row(
        "haiku-4-5",
        "2025-10-01",
        "enabled disabled",
        "disabled",
        cache_minimum=4096,
        efforts=(),
        keeps_thinking=False,
        tool_prompt=496,
        **_FOUR_FIVE,
    ),
    _row(
        "sonnet-4-5",
        "2025-09-29",
        "enabled disabled",
        "disabled",
        cache_minimum=1024,
        efforts=(),
        keeps_thinking=False,
        deprecated="2026-11-30",
        **_FOUR_FIVE,
    ),
)

_BY_ID = {model.id: model for model in MODELS}


def find(name: str) -> Model | None:
    """The row of a model id; a dated id (`…-20251101`) names the same row. None when unknown."""
    head, _, tail = name.rpartition("-")
    dated = len(tail) == 8 and tail.isdigit()
    return _BY_ID.get(head if dated else name)


def listing(model: Model) -> dict[str, Any]:
    """The model as the Models endpoint shows it (API §1.11)."""
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.name,
        "created_at": f"{model.released}T00:00:00Z",
        "lifecycle": "deprecated" if model.deprecated else "active",
        "deprecated_at": f"{model.released}T00:00:00Z" if model.deprecated else None,
        "retires_at": f"{model.deprecated}T00:00:00Z" if model.deprecated else None,
        "line": model.line,
        "max_input_tokens": model.window,
        "max_tokens": model.output,
        "capabilities": _capabilities(model),
    }


def page(*, limit: int = 20, after: str | None = None, before: str | None = None) -> dict[str, Any]:
    """One page of the model list, newest first; `after` and `before` are model ids."""
    ids = [model.id for model in MODELS]
    start = ids.index(after) + 1 if after in ids else 0
    stop = ids.index(before) if before in ids else len(ids)
    if before is not None:
        start = max(start, stop - limit)
    shown = MODELS[start:stop][:limit]
    return {
        "data": [listing(model) for model in shown],
        "has_more": start + len(shown) < stop,
        "first_id": shown[0].id if shown else None,
        "last_id": shown[-1].id if shown else None,
    }


def _capabilities(model: Model) -> dict[str, Any]:
    def yes(value: bool = True) -> dict[str, bool]:
        return {"supported": value}

    kinds = ("adaptive", "between_tools", "disabled", "enabled")
    return {
        "batch": yes(),
        "citations": yes(),
        "code_execution": yes(),
        "context_management": yes()
        | {
            "clear_thinking_20251015": yes(),
            "clear_tool_uses_20250919": yes(),
            "compact_20260112": yes("adaptive" in model.thinking),
        },
        "effort": yes(bool(model.efforts))
        | {level: yes(level in model.efforts) for level in ALL_EFFORTS},
        "image_input": yes(),
        "pdf_input": yes(),
        "server_tools": yes() | {"code_execution": yes(), "web_search": yes()},
        "structured_outputs": yes(),
        "thinking": yes() | {"types": {kind: yes(kind in model.thinking) for kind in kinds}},
    }
