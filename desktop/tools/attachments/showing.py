"""A picture or document as the result of a tool: shown, and said in words."""

from collections.abc import Mapping
from typing import Any

from desktop.core.errors import ToolFailed
from desktop.core.tools import ToolOutcome
from desktop.tools.attachments.checking import checked
from desktop.tools.output import readable


def shown(content: bytes, name: str) -> ToolOutcome:
    """The result that shows these bytes. Raises ToolFailed naming what can't be shown and why."""
    found = checked(content, name)
    if found is None:
        raise ToolFailed(f"{name} is neither a picture nor a document that can be shown.")
    return ToolOutcome(words(found), images=(found,))


def words(entry: Mapping[str, Any]) -> str:
    """What is shown, in a line: the kind, the measures, and whether it was made smaller."""
    name, size = entry["name"], readable(int(entry["size"]))
    if entry["kind"] == "document":
        pages = entry["pages"]
        return f"[{name}: a PDF of {pages} page{'s' if pages != 1 else ''}, {size}]"
    measures = f"{entry['width']} × {entry['height']} pixels, {size}"
    was = ", made fit to be shown" if "original" in entry else ""
    return f"[{name}: a picture, {measures}{was}]"
