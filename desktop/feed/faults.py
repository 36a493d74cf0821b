"""Why a read for a scope failed, in the few ways that a reader has to tell apart (DESIGN.md §7).

`code` is the word for it outside of the program.
"""

from desktop.core.errors import NacreError


class FeedError(NacreError):
    code = "upstream_failure"


class InvalidQuery(FeedError):
    """The question or its cursor is not one that was given to this reader for this selection."""

    code = "invalid_query"

    def __init__(self, detail: str = "") -> None:
        super().__init__("This question can't be answered.", detail=detail)


class CursorExpired(FeedError):
    """The cursor was right, but is too old or of another run of the program."""

    code = "cursor_expired"

    def __init__(self) -> None:
        super().__init__("This place in the list is not kept any more.")


class ReconciliationRequired(FeedError):
    """The records stand at another revision than the log; nothing was read."""

    code = "reconciliation_required"

    def __init__(self) -> None:
        super().__init__("The conversation has changed meanwhile.")


class NotFound(FeedError):
    """It is not there, or not for this reader: the same answer for both (SPEC R12)."""

    code = "not_found"

    def __init__(self) -> None:
        super().__init__("No conversation has this id.")


class Unauthenticated(FeedError):
    """The reader itself is not known any more."""

    code = "unauthenticated"

    def __init__(self) -> None:
        super().__init__("This reader may not read any more.")


class UpstreamFailure(FeedError):
    """It could not be read now; what is loaded stays, and one can try again."""

    def __init__(self, detail: str = "") -> None:
        super().__init__("The newest state could not be read.", way_out="Try again.", detail=detail)
