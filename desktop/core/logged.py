"""What a line of the log may say of a value, and of an error (decisions/0051).

What was said, read, typed or named by a person, a model, a tool or a server comes into the program
as text, and text is what errors are worded with. So text is not written. Numbers, ids, kinds,
places in the code and the words that the code itself chose are.
"""

import errno
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path, PurePath
from types import CodeType, TracebackType

UNSAID = "…"
CHAIN = 5  # errors of one chain or group that are told
FRAMES = 30  # innermost places of one error
LONGEST = 100  # characters of a place's file or function

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = re.compile(r".*[\\/](?:(?:site|dist)-packages|python3\.[0-9]+)[\\/]")


class Word(str):
    """A text that the program's own code chose, such as a state; nobody else's is made one."""

    __slots__ = ()


def told(value: object, *, root: Path | None = None) -> object:
    """What may be written of a value; a path only below `root`, and of that the first step."""
    if value is None or isinstance(value, (bool, int, float, Word)):
        return value
    if isinstance(value, str):
        return value if _UUID.fullmatch(value) else UNSAID
    if isinstance(value, BaseException):
        return " < ".join(kind_of(one) for one in chain_of(value))
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, PurePath):
        return _below(value, root)
    return _name_of_code(value) or f"<{type(value).__qualname__}>"


def kind_of(error: BaseException) -> str:
    """The class of an error and the number that says more, never its words."""
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    numbers = " ".join(_numbers(error))
    return f"{module}{kind.__qualname__}" + (f" ({numbers})" if numbers else "")


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """The error, what is in it if it is a group, and what stands behind it; each once."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < CHAIN:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions)  # pyright: ignore[reportUnknownArgumentType]
        behind = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        if behind is not None:
            waiting.append(behind)


def trace_of(error: BaseException) -> Iterator[str]:
    """Kinds and places of an error and of those behind it, a line each; reads no file."""
    for one in chain_of(error):
        yield kind_of(one)
        places = list(_places(one.__traceback__))
        if len(places) > FRAMES:
            yield f"  … {len(places) - FRAMES} places"
        for place in places[-FRAMES:]:
            yield f"  {place}"


def _places(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        code = trace.tb_frame.f_code
        yield f"{_file_of(code)}:{trace.tb_lineno} in {code.co_qualname[:LONGEST]}"
        trace = trace.tb_next


def _file_of(code: CodeType) -> str:
    """The file within the program or its library: where those lie may name a person."""
    path = Path(code.co_filename)
    if not path.is_absolute():  # a packed program has forgotten where it was built
        return path.as_posix()[-LONGEST:]
    if path.is_relative_to(_PACKAGE):
        return f"desktop/{path.relative_to(_PACKAGE).as_posix()}"
    library = _LIBRARIES.match(code.co_filename)
    name = code.co_filename[library.end() :] if library else path.name
    return name.replace("\\", "/")[-LONGEST:]


def _numbers(error: BaseException) -> Iterator[str]:
    number = getattr(error, "errno", None)
    if isinstance(number, int):
        yield errno.errorcode.get(number, f"errno {number}")
    name = getattr(error, "sqlite_errorname", None)  # one of SQLite's own list
    if isinstance(name, str):
        yield name
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        yield f"HTTP {status}"


def _below(path: PurePath, root: Path | None) -> str:
    if root is None or path == root or not path.is_relative_to(root):
        return UNSAID
    first, *rest = path.relative_to(root).parts
    return f"{first}/{UNSAID}" if rest else first


def _name_of_code(value: object) -> str:
    """Of a task its coroutine's name, of a function its own: never the name that it was given."""
    get_coroutine = getattr(value, "get_coro", None)
    code = get_coroutine() if callable(get_coroutine) else value
    name = getattr(code, "__qualname__", None)
    return name[:LONGEST] if isinstance(name, str) else ""
