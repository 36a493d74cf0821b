"""Reads the parameters of a call, strictly: what is not taken or not of its kind is a fault."""

from collections.abc import Mapping
from typing import Any

from desktop.core.chunks import Role
from desktop.core.sources import MOST_RECORDS, Order
from desktop.plugins.faults import wrong
from desktop.plugins.records import ROLES

LONGEST_WORD = 200
LONGEST_CURSOR = 1_000
_MOST_DIGITS = 18
MOST_NUMBER = 2**53 - 1


class Params:
    """What a call was given; `only` first."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def only(self, *keys: str) -> "Params":
        for key in self._given:
            if key not in keys:
                raise wrong(f"{key[:LONGEST_WORD]!r} is no parameter of this method.")
        return self

    def has(self, key: str) -> bool:
        return key in self._given

    def word(self, key: str, *, most: int = LONGEST_WORD, default: str | None = None) -> str:
        """A text that is not empty."""
        value = self._given.get(key, default)
        if value is default and default is not None:
            return default
        if not isinstance(value, str) or not 0 < len(value) <= most:
            raise wrong(f"{key} is not a text of 1 to {most} characters.")
        return value

    def number(self, key: str, *, least: int, most: int, default: int | None = None) -> int:
        value = self._given.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise wrong(f"{key} is not a whole number from {least} to {most}.")
        return value

    def truth(self, key: str) -> bool:
        """False where it is not given."""
        value = self._given.get(key, False)
        if not isinstance(value, bool):
            raise wrong(f"{key} is neither true nor false.")
        return value

    def revision(self, key: str) -> int | None:
        """A decimal text; None where it is not given."""
        value = self._given.get(key)
        if value is None:
            return None
        is_decimal = isinstance(value, str) and value.isascii() and value.isdigit()
        if not is_decimal or len(value) > _MOST_DIGITS:
            raise wrong(f"{key} is not a decimal number as a text.")
        return int(value)

    def roles(self) -> frozenset[Role]:
        given = self._given.get("roles", sorted(ROLES))
        if not isinstance(given, list) or not given:
            raise wrong("roles is not a list.")
        found: frozenset[Role] = frozenset(one for one in ROLES if one in given)
        if len(found) != len(given):
            raise wrong("roles may hold user and assistant, each once.")
        return found

    def order(self) -> Order:
        match self._given.get("order", "descending"):
            case "ascending":
                return "ascending"
            case "descending":
                return "descending"
            case _:
                raise wrong("order is neither ascending nor descending.")

    def size(self) -> int:
        return self.number("size", least=1, most=MOST_RECORDS, default=MOST_RECORDS)

    def cursor(self) -> str:
        return self.word("cursor", most=LONGEST_CURSOR, default="")

    def inner(self, key: str) -> "Params":
        return params_of(self._given.get(key))

    def items(self, key: str, *, most: int) -> list[Any]:
        """A list; empty where it is not given."""
        value = self._given.get(key, [])
        if not isinstance(value, list) or len(value) > most:
            raise wrong(f"{key} is not a list of up to {most}.")
        return value


def params_of(value: object) -> Params:
    if not isinstance(value, dict):
        raise wrong("An object is missing.")
    return Params(value)
