"""`python -m desktop` is the `nacre` command."""

import sys

from desktop.cli import main

if __name__ == "__main__":
    sys.exit(main())
