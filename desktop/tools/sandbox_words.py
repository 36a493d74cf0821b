"""What a model is told of a command that failed in a sandbox, so that it need not guess why."""

import re

_TAIL = 4000
_NETWORK = re.compile(
    r"could not resolve|name resolution|name or service not known|network is unreachable"
    r"|getaddrinfo|enotfound|eai_again|no route to host|failed to connect|connection refused"
    r"|dns error|cannot assign requested address",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(r"read-only file system|erofs|os error 30", re.IGNORECASE)
_NOT_MADE = re.compile(r"\Abwrap: ")


def hint(text: str, *, network: bool) -> str:
    """A sentence for the end of what a failed command printed; empty where there is none to say."""
    if _NOT_MADE.match(text):
        return "The sandbox could not be made, so the command was not run."
    end = text[-_TAIL:]
    if not network and _NETWORK.search(end):
        return "There is no network in the sandbox; network: true asks for it."
    if _READ_ONLY.search(end):
        return "In the sandbox only the workspace and /tmp can be written."
    return ""
