"""A refusal in words: what the provider says of its reason (API §1.6), for the person to read.

Its category is told in a sentence of ours; its explanation is quoted, cut at a length that a line
can hold. Both come from outside: whatever shape they have, a sentence comes of it.
"""

from collections.abc import Mapping
from typing import Any

REFUSED = "The model declined to answer this."
LONGEST = 400
# A new one is told by its own name.
_ABOUT: Mapping[str, str] = {
    "cyber": "attacks on computers",
    "bio": "biological or chemical dangers",
    "frontier_llm": "building large language models",
    "reasoning_extraction": "how the model reasons inside",
    "general_harms": "harm to people",
}


def words(details: Mapping[str, Any]) -> str:
    """The notice of a refusal; `details` are the provider's `stop_details`, {} without any."""
    said = [REFUSED]
    category = _plain(details.get("category"))
    if category:
        about = _ABOUT.get(category, category.replace("_", " "))
        said.append(f"The provider took it to be about {about}.")
    explanation = _plain(details.get("explanation"))
    if explanation:
        said.append(f"It says: {explanation}")
    return " ".join(said)


def _plain(value: object) -> str:
    """A text as one line without what can't be seen, '' for anything else."""
    if not isinstance(value, str):
        return ""
    line = "".join(one if one.isprintable() else " " for one in value[: 4 * LONGEST])
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
