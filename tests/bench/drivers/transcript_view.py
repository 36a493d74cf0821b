"""Measures the transcript in a process of its own: `transcript_view PARTS ROWS=FOLDER:TAB…`.

Prints one JSON line a figure. The platform is the environment's.
"""

import dataclasses
import json
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from tests.bench._corpus import Corpus
from tests.bench._transcript import opening, staying, streaming

PARTS = {
    "tails": opening.tails,
    "pages": opening.pages,
    "jumps": opening.jumps,
    "memory": staying.memory,
    "anchor": staying.anchor,
    "bar": staying.bar,
    "idle": staying.idle,
    "gaps": streaming.gaps,
    "unseen": streaming.unseen,
    "keys": streaming.keys,
}


def main(parts: str, *corpora: str) -> None:
    made = dict(_corpus(one) for one in corpora)
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    with qasync.QEventLoop(app) as loop:
        for name in parts.split(","):
            for figure in loop.run_until_complete(PARTS[name](made)):
                print(json.dumps(dataclasses.asdict(figure)), flush=True)


def _corpus(told: str) -> tuple[int, Corpus]:
    rows, _, rest = told.partition("=")
    folder, _, tab = rest.rpartition(":")
    return int(rows), Corpus(Path(folder), tab, int(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
