"""A secret as a value that can't be seen by accident."""

import hmac
from typing import NoReturn, final


@final
class Secret:
    """Holds a secret text. Neither repr, str, format, pickle nor copy shows or carries it; the
    only way to the text is `reveal`, called at the last moment, in the argument of a call."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        return self.__text

    def __len__(self) -> int:
        return len(self.__text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(_bytes(self.__text), _bytes(other.reveal()))

    __hash__ = None  # pyright: ignore[reportAssignmentType] (a hash would tell equal secrets apart)

    def __bool__(self) -> bool:
        return bool(self.__text)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        del protocol
        raise TypeError("a secret is not copied or pickled")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
