"""Nacre as a person starts it, on the data folder that is given, up to the first painted window."""

import sys
from pathlib import Path

from desktop.app import Options, run
from tests.bench.drivers.report import end

sys.exit(run(Options(data_dir=Path(sys.argv[1])), on_first_paint=end))
