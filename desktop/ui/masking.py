"""What looks like a key is shown as dots: in commands, addresses, environments and headers.

A guess by name and by shape, rather too often than too seldom; it hides from eyes and pictures and
changes nothing of what is used.
"""

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

DOTS = "•" * 8
_NAME = re.compile(r"key|token|secret|passw|passphrase|auth|credential|cookie|bearer|\bpat\b", re.I)
_SHAPE = re.compile(
    r"(sk|pk|rk)[-_]|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|eyJ|(bearer|basic) ", re.I
)
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_\-+=]{32,}")


def looks_like_key(name: str, value: str) -> bool:
    """`name` is what the value is called, '' for nothing."""
    if not value.strip():
        return False
    return bool(_NAME.search(name) or _SHAPE.match(value) or _RANDOM.fullmatch(value))


def masked(name: str, value: str) -> str:
    return DOTS if looks_like_key(name, value) else value


def masked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """Also the value of `--token=…`, and what follows a `--token`."""
    found: list[str] = []
    called = ""
    for one in arguments:
        option, sign, value = one.partition("=")
        if option.startswith("-") and sign:
            found.append(f"{option}={masked(option, value)}")
            called = ""
        elif one.startswith("-"):
            found.append(one if not _RANDOM.fullmatch(one) else DOTS)
            called = one
        else:
            found.append(masked(called, one))
            called = ""
    return tuple(found)


def masked_address(url: str) -> str:
    """Without the password in it, and without values of its query that look like keys."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return url
    netloc = f"{DOTS}@{host}" if "@" in parts.netloc else parts.netloc
    query = parts.query
    if any(looks_like_key(name, value) for name, value in parse_qsl(query)):
        query = "&".join(
            f"{quote(name)}={DOTS if looks_like_key(name, value) else quote(value)}"
            for name, value in parse_qsl(query, keep_blank_values=True)
        )
    path = "/".join(masked("", piece) for piece in parts.path.split("/"))
    return urlunsplit((parts.scheme, netloc, path, query, parts.fragment))
