"""Nacre as a person starts it, on the data folder that is given, up to the first painted window."""

import sys

from desktop.cli import main


def painted() -> None:
    # Only now: the program loads Qt itself.
    from tests.bench.drivers.report import end

    end()


sys.exit(main(["--data-dir", sys.argv[1]], on_first_paint=painted))
