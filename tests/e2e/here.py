"""The whole `nacre` command in the test's own process, for tests whose subject is no process.

A process of its own loads three thousand modules of the provider's library before it does anything:
two seconds of a processor. Everything else is the same here: the words of the command line, the
environment, standard input and output, the database, HTTP. What only an end of a process shows
stays with `Home`: kills, signals, what another process finds, exit codes of the interpreter.
"""

import contextlib
import io
import os
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from desktop import cli
from tests.e2e.nacre import Ended, Home

ROOT = Path(__file__).parents[2]
# Chosen once in a process: the keyring that refuses must stay the one.
KEPT = ("PYTHON_KEYRING_BACKEND",)


@dataclass(frozen=True, slots=True)
class HomeHere(Home):
    """A home whose `nacre` and `run` begin no process; `start` does."""

    def nacre(self, *arguments: str, text: str | None = None) -> Ended:
        given = io.BytesIO((text or "").encode("utf-8", "surrogateescape"))
        out, err = _output(), _output()
        environment = self.environment() | {name: os.environ[name] for name in KEPT}
        with (
            mock.patch.dict(os.environ, environment, clear=True),
            mock.patch("sys.stdin", io.TextIOWrapper(given, "utf-8", "surrogateescape")),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            contextlib.chdir(ROOT),
        ):
            code = _code_of(["--data-dir", str(self.data), *arguments])
        return Ended(code, _text(out), _text(err))


def _code_of(words: list[str]) -> int:
    try:
        return cli.main(words)
    except SystemExit as end:  # argparse's way
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _output() -> io.TextIOWrapper:
    """What a process writes to under LANG=C.UTF-8."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", write_through=True)


def _text(written: io.TextIOWrapper) -> str:
    held = written.buffer
    assert isinstance(held, io.BytesIO)
    return held.getvalue().decode("utf-8", "surrogateescape")
