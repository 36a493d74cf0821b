"""How letters on a terminal look: colours and weights, as `SGR` sequences set them.

A style is a value; `code` says it in the words of such a sequence, and `styled` reads them back.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

# A place in the palette of 256, or red, green and blue from 0 to 255.
Colour = int | tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Style:
    """`fore` and `back` are None where nothing was said. Nothing is ever hidden."""

    fore: Colour | None = None
    back: Colour | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    struck: bool = False

    @property
    def code(self) -> str:
        """`1;38;5;9`; empty of a plain one."""
        parts = [str(number) for name, number in _FLAGS.items() if getattr(self, name)]
        parts += [_colour_code(38, self.fore), _colour_code(48, self.back)]
        return ";".join(part for part in parts if part)


_FLAGS = {"bold": 1, "dim": 2, "italic": 3, "underline": 4, "inverse": 7, "struck": 9}
_SET = {**{number: name for name, number in _FLAGS.items()}, 21: "underline"}
_UNSET = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("inverse",),
    29: ("struck",),
}

PLAIN = Style()


@lru_cache(maxsize=1_024)
def styled(style: Style, arguments: str) -> Style:
    """The style after one sequence; what is not understood changes nothing."""
    changes = _changes(arguments)
    return style if not changes else _applied(style, changes)


def _changes(arguments: str) -> tuple[tuple[str, object], ...]:
    """What a sequence sets, in its order; `reset` is all of it."""
    if arguments.strip("0123456789;:"):
        return ()
    numbers = arguments.split(";")
    found: list[tuple[str, object]] = []
    at = 0
    while at < len(numbers):
        at += _read(numbers, at, found)
    return tuple(found)


def _read(numbers: list[str], at: int, found: list[tuple[str, object]]) -> int:
    """Reads one setting; how many numbers it took."""
    if ":" in numbers[at]:
        _read_joined(numbers[at].split(":"), found)
        return 1
    number = _number(numbers[at])
    if number in (38, 48):
        which = "fore" if number == 38 else "back"
        kind = _number(numbers[at + 1]) if at + 1 < len(numbers) else 0
        took = 3 if kind == 5 else 5 if kind == 2 else 2
        colour = _colour(kind, numbers[at + 2 : at + took])
        if colour is not None:
            found.append((which, colour))
        return took
    found.extend(_simple(number))
    return 1


def _read_joined(parts: list[str], found: list[tuple[str, object]]) -> None:
    """`38:5:9`, `38:2::1:2:3`, `4:3`."""
    number = _number(parts[0])
    if number in (38, 48):
        kind = _number(parts[1])
        # A space of colours may be named before three numbers.
        told = parts[3:6] if kind == 2 and len(parts) > 5 else parts[2:5]
        colour = _colour(kind, told)
        if colour is not None:
            found.append(("fore" if number == 38 else "back", colour))
    elif number == 4:
        found.append(("underline", _number(parts[1]) != 0))


def _simple(number: int) -> list[tuple[str, object]]:
    if number == 0:
        return [("reset", None)]
    if number in _SET:
        return [(_SET[number], True)]
    if number in _UNSET:
        return [(name, False) for name in _UNSET[number]]
    if number in (39, 49):
        return [("fore" if number == 39 else "back", None)]
    for first, bright, which in ((30, 90, "fore"), (40, 100, "back")):
        if first <= number < first + 8:
            return [(which, number - first)]
        if bright <= number < bright + 8:
            return [(which, number - bright + 8)]
    return []


def _applied(style: Style, changes: tuple[tuple[str, object], ...]) -> Style:
    told: dict[str, object] = {}
    for name, value in changes:
        if name == "reset":
            style, told = PLAIN, {}
        else:
            told[name] = value
    return replace(style, **told)  # pyright: ignore[reportArgumentType]


def _colour(kind: int, told: list[str]) -> Colour | None:
    numbers = [_number(one) for one in told]
    if any(one > 255 for one in numbers):
        return None
    if kind == 5 and len(numbers) >= 1:
        return numbers[0]
    if kind == 2 and len(numbers) == 3:
        return (numbers[0], numbers[1], numbers[2])
    return None


def _colour_code(first: int, colour: Colour | None) -> str:
    if colour is None:
        return ""
    if isinstance(colour, int):
        return f"{first};5;{colour}"
    return f"{first};2;{colour[0]};{colour[1]};{colour[2]}"


def _number(text: str) -> int:
    """0 where nothing was said; of a number of many digits, one that means nothing."""
    return int(text) if text and len(text) <= 6 else 0 if not text else 999_999
