"""Whether what an agent starts runs in a sandbox, in words for the person."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Confinement:
    """`why` says in a sentence what stands in the way of a sandbox, `way_out` what would help.

    Both are empty where there is one; `way_out` also where nothing helps.
    """

    is_sandboxed: bool
    why: str = ""
    way_out: str = ""
