"""Names under which the tools of servers reach a model: legal, unique, the same at every start.

A name depends on its server and tool alone, never on what else is there, so that a log names the
same tool for ever (FIELD F-X02, API V23). Where the plain form could not be told from another
pair's, it carries a fingerprint of the pair.
"""

import hashlib
import re

PREFIX = "mcp__"
LONGEST = 64
_FINGERPRINT = 10
_PLAIN_SERVER = re.compile(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*")
_PLAIN_TOOL = re.compile(r"[A-Za-z0-9-][A-Za-z0-9_-]*")
_LIKE_MARKED = re.compile(rf"_[0-9a-f]{{{_FINGERPRINT}}}$")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")


def legal_name(server: str, tool: str) -> str:
    """At most 64 letters, digits, `_` and `-`; another name for each pair."""
    name = f"{PREFIX}{server}__{tool}"
    plain = _PLAIN_SERVER.fullmatch(server) and _PLAIN_TOOL.fullmatch(tool)
    if plain and len(name) <= LONGEST and not _LIKE_MARKED.search(name):
        return name
    pair = f"{server}\0{tool}".encode("utf-8", "surrogatepass")
    mark = f"_{hashlib.sha256(pair).hexdigest()[:_FINGERPRINT]}"
    return f"{_ILLEGAL.sub('_', name)[: LONGEST - len(mark)]}{mark}"
