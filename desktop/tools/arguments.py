"""Arguments as a model gives them: checked, with a sentence that says what to mend."""

from desktop.core.chunks import Json
from desktop.core.errors import ToolFailed


def text(arguments: Json, name: str, *, default: str | None = None) -> str:
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolFailed(f"The argument {name} is missing; it must be a text.")
    return value


def number(arguments: Json, name: str, *, default: int, least: int, most: int) -> int:
    """A whole number, also one written as a text; beyond the bounds the bound is meant."""
    value = arguments.get(name, default)
    if isinstance(value, str) and value.strip().lstrip("-").isascii():
        digits = value.strip()
        value = int(digits) if digits.lstrip("-").isdigit() and len(digits) < 20 else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        value = default
    if isinstance(value, bool) or not isinstance(value, int):
        raise ToolFailed(f"The argument {name} must be a whole number.")
    return max(least, min(most, value))


def flag(arguments: Json, name: str) -> bool:
    value = arguments.get(name, False)
    if value is None or isinstance(value, bool):
        return bool(value)
    if value in ("true", "false"):
        return value == "true"
    raise ToolFailed(f"The argument {name} must be true or false.")
