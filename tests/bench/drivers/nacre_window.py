"""Nacre as a person starts it, on the data folder that is given, up to the first painted window."""

import sys

from desktop.app import run_window
from tests.bench.drivers.report import end

sys.exit(run_window(sys.argv[1], on_first_paint=end))
