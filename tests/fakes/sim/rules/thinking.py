"""The thinking setting and the effort, by model (V31, V39 to V41)."""

from __future__ import annotations

from tests.fakes.sim.models import Model
from tests.fakes.sim.problems import Json, Refusal
from tests.fakes.sim.rules.envelope import Terms
from tests.fakes.sim.rules.turns import THINKING, Turn

USE_ADAPTIVE = (
    '"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and '
    '"output_config.effort" to control thinking behavior.'
)
USE_BETWEEN_TOOLS = (
    '"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools" '
    "to turn thinking off."
)


def kind_of(body: Json, model: Model) -> str:
    """The thinking type that holds for this request, the model's default when none is named."""
    return str((body.get("thinking") or {}).get("type") or model.thinking_default)


def display_of(body: Json, model: Model) -> str:
    """`summarized` or `omitted`: whether the reply shows its thinking text."""
    return str((body.get("thinking") or {}).get("display") or model.display_default)


def effort_of(body: Json, model: Model) -> str:
    """The effort that holds, the model's default when none is named (C22a)."""
    return str((body.get("output_config") or {}).get("effort") or model.effort_default)


def check(body: Json, model: Model, terms: Terms, turns: list[Turn]) -> None:
    """The setting against the model, then the conversation against the setting."""
    setting: Json = body.get("thinking") or {}
    _check_type(setting, model)
    _check_effort(body, model)
    _check_betas(setting, terms)
    if setting.get("type") != "enabled":
        return
    budget, limit = setting["budget_tokens"], body.get("max_tokens")
    if budget < 1024:
        raise Refusal(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        )
    if limit is not None and budget >= limit and not terms.beta("interleaved-thinking-"):
        raise Refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")
    _check_tool_loop(turns)


def _check_type(setting: Json, model: Model) -> None:
    kind = setting.get("type")
    if kind is None or kind in model.thinking:
        return
    if kind == "adaptive":
        raise Refusal("adaptive thinking is not supported on this model")
    if kind == "disabled" and "between_tools" in model.thinking:
        raise Refusal(USE_BETWEEN_TOOLS)
    raise Refusal(USE_ADAPTIVE.format(kind=kind))


def _check_effort(body: Json, model: Model) -> None:
    effort = (body.get("output_config") or {}).get("effort")
    if effort is None:
        return
    if not model.efforts:
        raise Refusal("This model does not support the effort parameter.")
    if effort not in model.efforts:
        said = ", ".join(model.efforts)
        raise Refusal(
            f"output_config.effort: '{effort}' is not supported on this model. "
            f"Supported levels: {said}."
        )
    kind = (body.get("thinking") or {}).get("type")
    if kind in ("disabled", "between_tools") and _limited_off(model) and effort in ("xhigh", "max"):
        raise Refusal(
            f"output_config.effort: '{effort}' is not supported with thinking.type '{kind}' on "
            "this model."
        )


def _limited_off(model: Model) -> bool:
    return model.id in ("claude-opus-5", "claude-sonnet-5-5")


def _check_betas(setting: Json, terms: Terms) -> None:
    if "block_binding" in setting and not terms.beta("thinking-binding-controls-"):
        raise Refusal("thinking.adaptive.block_binding: Extra inputs are not permitted")
    if setting.get("display") == "updates" and not terms.beta("thinking-display-updates-"):
        raise Refusal("thinking.adaptive.display: Input should be 'summarized' or 'omitted'")


def _check_tool_loop(turns: list[Turn]) -> None:
    """With a thinking budget, the turn that called tools starts with its thinking (V31)."""
    if len(turns) < 2 or set(turns[-1].kinds()) != {"tool_result"}:
        return
    asked = turns[-2]
    kinds = asked.kinds()
    if kinds and kinds[0] not in THINKING:
        raise Refusal(
            f"messages.{asked.at}.content.0.type: Expected `thinking` or `redacted_thinking`, but "
            f"found `{kinds[0]}`. When `thinking` is enabled, a final `assistant` message must "
            "start with a thinking block (preceeding the lastmost set of `tool_use` and "
            "`tool_result` blocks)."
        )
