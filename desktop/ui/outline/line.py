"""A line of the outline as it is shown."""

from dataclasses import dataclass

from desktop.core.outline import Heading


@dataclass(frozen=True, slots=True)
class Line:
    """A heading and what is known of it. `end`: how its turn ended, where that is worth a mark;
    `is_compacted`: no model is told it as it was said."""

    heading: Heading
    end: str = ""
    is_bookmarked: bool = False
    is_retracted: bool = False
    is_compacted: bool = False
    is_current: bool = False
