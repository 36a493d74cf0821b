"""Searches files for a regular expression, as a program of its own.

A pattern can take for ever and holds the interpreter while it does, so it runs where it can be
ended from outside. Standard library only, and nothing of Nacre: it is started as a plain file, or
by a packaged program through `main`. Input: one JSON line `{"pattern", "ignoreCase", "most"}`,
then NUL-separated paths. Output: JSON lines `[path number, line number, text]`, then
`{"cut", "skipped"}`; `{"error"}` alone for a pattern that is none.
"""

import codecs
import json
import os
import re
import stat
import sys

LINE = 400
_PROBE = 8192
_LARGEST = 100_000_000
_LONGEST_LINE = 1_000_000
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def main() -> int:
    head, _, names = sys.stdin.buffer.read().partition(b"\n")
    asked = json.loads(head)
    try:
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignoreCase"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        _say({"error": str(error)})
        return 0
    found = skipped = 0
    cut = False
    for number, name in enumerate(names.split(b"\0") if names else ()):
        lines = _lines(name)
        if lines is None:
            skipped += 1
            continue
        for line_number, line in enumerate(lines, 1):
            match = pattern.search(line[:_LONGEST_LINE])
            if match is None:
                continue
            if found == asked["most"]:
                cut = True
                break
            found += 1
            _say([number, line_number, _excerpt(line, match.start())])
        if cut:
            break
    _say({"cut": cut, "skipped": skipped})
    sys.stdout.flush()
    return 0


def _lines(name: bytes) -> list[str] | None:
    """The lines of a text file; None for a binary, too large, special or unreadable one."""
    try:
        handle = os.open(name, _OPEN)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        with open(handle, "rb", closefd=False) as file:
            start = file.read(_PROBE)
            encoding = _encoding(start)
            if encoding is None:
                return None
            text = (start + file.read()).decode(encoding, "replace")
    except OSError:
        return None
    finally:
        os.close(handle)
    return re.split(r"\r\n|\n|\r", text)


def _encoding(start: bytes) -> str | None:
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return None
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None if b"\0" in start else "utf-8-sig"


def _excerpt(line: str, at: int) -> str:
    """The line, or the part of it around the match."""
    if len(line) <= LINE:
        return line
    start = max(0, min(at - LINE // 4, len(line) - LINE))
    end = start + LINE
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
