"""From the rows of a conversation to the body of a request: pure, and the same bytes every time.

Only rows can change what an earlier row became (`fold`), so request n+1 starts with request n,
block by block (DESIGN §6, SPEC C02).
"""

import json
from collections.abc import Sequence
from typing import Any

from desktop.core.chunks import LogChunk, Stamp, System
from desktop.core.conversation import prompt_of, told, tools_of
from desktop.core.model import RequestOptions
from desktop.core.rewrites import standing
from desktop.wire import blocks, breakpoints
from desktop.wire.fold import Fold, messages_of
from desktop.wire.models import PLAIN_OUTPUT, KnownModel, ModelTable
from desktop.wire.showing import NO_BYTES, Bytes, Showing

OUTPUT_LIMIT = 64_000


def build(
    chunks: Sequence[LogChunk],
    options: RequestOptions,
    *,
    models: ModelTable,
    stamp: Stamp,
    pictures: Bytes = NO_BYTES,
) -> dict[str, Any]:
    """The body of a request to the Messages API.

    `stamp` is whom it is for: thinking of another model or account is left out. `pictures` are the
    bytes that rows refer to. The messages stand last, so that a longer conversation's bytes extend
    a shorter one's.
    """
    rows = standing(chunks)
    body = head_of(models, options, prompt_of(rows), tools_of(rows))
    folded = Fold(stamp, Showing.to(models.find(options.model), pictures))
    for row in told(rows):
        folded.add(row)
    body["messages"] = messages_of(folded.exchanges, resumed=options.resumed)
    body = blocks.clean(body)
    model = models.find(options.model)
    if model is not None and model.caches:
        breakpoints.place(body, options.ttl, most=options.marks)
    return body


def head_of(
    models: ModelTable, options: RequestOptions, prompt: System | None, tools: list[Any]
) -> dict[str, Any]:
    """What stands before the messages, not yet cleaned."""
    body: dict[str, Any] = {
        "model": options.model,
        **_settings(models.find(options.model), options),
    }
    if tools:
        body["tools"] = tools
    if prompt is not None and prompt.text.strip():
        body["system"] = [blocks.text_block(prompt.text)]
    return body


def serialise(body: dict[str, Any]) -> bytes:
    """The body's bytes: UTF-8, compact, keys in the order they have."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _settings(model: KnownModel | None, options: RequestOptions) -> dict[str, Any]:
    """Length, thinking and effort as far as the model takes them (API §3.7), and whether to say
    why the cache missed (API C30; no beta is named, so the set of betas never changes).

    Models that only know `enabled` go without thinking: a turn that begins without a thinking block
    (after a switch of models, or a stop) would be refused (API V31).
    """
    limit = min(model.max_output, OUTPUT_LIMIT) if model else PLAIN_OUTPUT
    settings: dict[str, Any] = {"max_tokens": limit, "stream": True}
    if model is None:
        return settings
    if "adaptive" in model.thinking:
        settings["thinking"] = {"type": "adaptive", "display": "summarized"}
    if options.effort in model.efforts and options.effort != model.default_effort:
        settings["output_config"] = {"effort": options.effort}
    if options.asks_why and model.caches:
        settings["diagnostics"] = {"previous_message_id": options.previous_message_id or None}
    return settings
