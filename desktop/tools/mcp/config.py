"""`mcp.json`: which tool servers there are. One bad entry costs that entry only (SPEC U33).

The shape is the one that other programs share: `{"mcpServers": {name: {…}}}` with `command`,
`args`, `env`, `cwd` or with `url`, `headers`; the key `sandbox` is Nacre's own. A file is read and
never mended behind one's back; keys that Nacre does not know stay where they are.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from desktop.core.tool_servers import ServerEntry, ServerSandbox

SERVERS = "mcpServers"
MOST_BYTES = 1_000_000
_LONGEST_NAME = 100
_LOCAL_KINDS = ("", "stdio")
_HTTP_KINDS = ("", "http", "streamable-http", "streamableHttp", "streamable_http")


@dataclass(frozen=True, slots=True)
class Config:
    """What a file says: the entries that can be used, and a sentence about each that can't.

    `is_read` is False where the file as a whole could not be understood. `broken` says of the bad
    entries by name what is wrong with each, as the end of a sentence.
    """

    entries: tuple[ServerEntry, ...] = ()
    problems: tuple[str, ...] = ()
    is_read: bool = True
    broken: Mapping[str, str] = field(default_factory=dict[str, str])


class _Bad(ValueError):
    """What is wrong with an entry, as the end of a sentence about it."""


def read(path: Path) -> Config:
    """Reads the file; never raises. Not there means that there are no servers."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return _unread(f"{path} is too large to be a list of tool servers.")
        data = path.read_bytes()
    except FileNotFoundError:
        return Config()
    except OSError as error:
        return _unread(f"{path} can't be read: {error.strerror or error}.")
    return parse(data, path)


def parse(data: bytes, path: Path) -> Config:
    """From the bytes of the file; `path` is for the sentences only."""
    if not data.strip():
        return _unread(f"{path} is empty, so it names no tool server.")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return _unread(f"{path} is not UTF-8 text, so it is not used.")
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        return _unread(f"{path} is not JSON ({error.msg}, {place}), so it is not used.")
    except (ValueError, RecursionError):
        return _unread(f"{path} is not usable JSON, so it is not used.")
    servers = document.get(SERVERS, {}) if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        return _unread(f'{path} must hold {{"{SERVERS}": {{…}}}}, so it is not used.')
    return _entries(cast("dict[str, Any]", servers), path)


def _unread(problem: str) -> Config:
    return Config(problems=(problem,), is_read=False)


def _entries(servers: Mapping[str, Any], path: Path) -> Config:
    entries: list[ServerEntry] = []
    broken: dict[str, str] = {}
    problems: list[str] = []
    for name, value in servers.items():
        try:
            entries.append(_entry(name, value))
        except _Bad as error:
            broken[name] = str(error)
            shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
            problems.append(f"The tool server “{shown}” in {path} is not used: {error}.")
    return Config(tuple(entries), tuple(problems), broken=broken)


def _entry(name: str, value: object) -> ServerEntry:
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise _Bad("its name is empty, too long, or has signs that can't be shown")
    if not isinstance(value, dict):
        raise _Bad("it must be an object with a command or a url")
    told = cast("dict[str, Any]", value)
    kind, command, url = _text(told, "type"), _text(told, "command"), _text(told, "url")
    is_enabled = not (told.get("disabled") is True or told.get("enabled") is False)
    if command and url:
        raise _Bad("it has both a command and a url")
    if command:
        if kind not in _LOCAL_KINDS:
            raise _Bad(f"its type {kind!r} does not go with a command")
        return ServerEntry(
            name=name,
            command=command,
            args=_texts(told, "args"),
            env=_pairs(told, "env"),
            cwd=_text(told, "cwd"),
            is_enabled=is_enabled,
            sandbox=_wish(told.get("sandbox")),
        )
    if not url:
        raise _Bad("it has neither a command nor a url")
    if kind not in _HTTP_KINDS:
        raise _Bad(f"its type {kind!r} is not one that Nacre speaks; http is")
    if not _is_web_address(url):
        raise _Bad("its url is no http or https address")
    return ServerEntry(name=name, url=url, headers=_pairs(told, "headers"), is_enabled=is_enabled)


def _wish(value: object) -> ServerSandbox:
    """An entry that says something odd of its sandbox is not started with another one."""
    if value is None:
        return ServerSandbox()
    if isinstance(value, bool):
        return ServerSandbox(is_wanted=value, is_asked_for=value)
    if not isinstance(value, dict) or not set(value) <= {"network", "write"}:
        raise _Bad('its sandbox must be true, false or {"network": …, "write": […]}')
    told = cast("dict[str, Any]", value)
    network, write = told.get("network", True), told.get("write", [])
    if not isinstance(network, bool):
        raise _Bad("its sandbox's network must be true or false")
    if not isinstance(write, list) or not all(_is_full_path(one) for one in write):
        raise _Bad("its sandbox's write must be a list of full paths")
    return ServerSandbox(is_asked_for=True, network=network, write=tuple(write))


def _is_full_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("/", "~")) and "\0" not in value


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or "\0" in value:
        raise _Bad(f"its {key} must be a text")
    return value


def _texts(told: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = told.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _Bad(f"its {key} must be a list of texts")
    if any("\0" in one for one in value):
        raise _Bad(f"its {key} hold a NUL character")
    return tuple(value)


def _pairs(told: Mapping[str, Any], key: str) -> dict[str, str]:
    value = told.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise _Bad(f"its {key} must be an object of texts")
    pairs = cast("dict[str, str]", value)
    if any(not name or "\0" in name + text or "\n" in name for name, text in pairs.items()):
        raise _Bad(f"its {key} have a name or value that can't be used")
    return dict(pairs)
