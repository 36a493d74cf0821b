"""The `nacre` command: reads its words and hands over to one of the two roots.

Exit codes: 0 done, 1 the turn failed, 2 bad use, 3 no credential (DESIGN.md §8). Nothing heavy is
loaded to say what is wrong with the words, nor before the window is painted.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from desktop.core.errors import NacreError
from desktop.core.links import SCHEME, parse_place, spelled
from desktop.core.loading import at_rest
from desktop.core.scripts import SCRIPT

if TYPE_CHECKING:
    from desktop.core.cursor import Cursor

COMMANDS = frozenset(
    ("run", "tabs", "show", "search", "import-records", "backup", "restore", "doctor")
)
DONE, FAILED, BAD_USE, NO_CREDENTIAL = 0, 1, 2, 3


class _Version(argparse.Action):
    """Says the version, which is looked up among all that is installed, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from desktop.diagnostics import program_version

        print(f"Nacre {program_version()}")
        parser.exit()


def main(
    argv: Sequence[str] | None = None, *, on_first_paint: Callable[[], None] | None = None
) -> int:
    """Runs one command; returns its exit code and never lets a traceback reach the person.

    `on_first_paint` is called when it opened the window and that has been painted.
    """
    words = sys.argv[1:] if argv is None else argv
    if len(words) > 1 and words[0] == SCRIPT:
        from desktop.plugins import isolated

        isolated.run(words[1:])
        return DONE
    # What is imported and made until the window is painted stays; looking through it finds nothing.
    gc.disable()
    try:
        arguments = parser().parse_args(with_place(words))
        return _run(arguments, on_first_paint)
    except NacreError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return 130
    finally:
        gc.enable()


def _run(arguments: argparse.Namespace, on_first_paint: Callable[[], None] | None) -> int:
    data_dir: str | None = getattr(arguments, "data_dir", None)
    if arguments.selftest:
        from desktop.app.installation import prove_installation

        return prove_installation()
    if arguments.command is None:
        from desktop.app import run_window

        return run_window(
            data_dir,
            place=arguments.open or "",
            selftest=arguments.selftest_window,
            on_first_paint=on_first_paint,
        )
    gc.enable()
    if arguments.command in ("tabs", "show", "search"):
        with at_rest():
            from desktop.headless import looking
        if arguments.command == "tabs":
            return looking.tabs(data_dir, of=arguments.shelf, as_json=arguments.json)
        if arguments.command == "search":
            return looking.search(
                data_dir, arguments.text, limit=arguments.limit, as_json=arguments.json
            )
        after, before, limit = arguments.after, arguments.before, arguments.limit
        whole = after is None and before is None and limit is None
        piece = None if whole else looking.Piece(limit or looking.PAGE, after, before)
        return looking.show(data_dir, arguments.tab, as_json=arguments.json, piece=piece)
    if arguments.command == "import-records":
        with at_rest():
            from desktop.headless.importing import import_records
        return import_records(data_dir, arguments.folder, as_json=arguments.json)
    if arguments.command in ("backup", "restore"):
        with at_rest():
            from desktop.headless import keeping
        if arguments.command == "backup":
            return keeping.make_backup(data_dir, arguments.file, as_json=arguments.json)
        return keeping.restore(data_dir, arguments.file, as_json=arguments.json)
    with at_rest():
        from desktop.headless import commands
    if arguments.command == "run":
        return commands.run(
            data_dir,
            commands.RunOptions(
                text=arguments.text,
                workspace=arguments.workspace,
                tab=arguments.tab,
                model=arguments.model,
                effort=arguments.effort,
                permission=arguments.permission,
                store=arguments.store,
                attach=tuple(arguments.attach),
                as_json=arguments.json,
            ),
        )
    return commands.doctor(data_dir, as_json=arguments.json)


def with_place(words: Sequence[str]) -> list[str]:
    """The words with `--open` before a last one that can only be a place, as desktops give it."""
    *others, last = words or [""]
    looks_like_one = last.startswith((SCHEME, "/", "./", "../", "~")) or last in (".", "..")
    is_value = bool(others) and (others[-1].startswith("-") or not COMMANDS.isdisjoint(others))
    return [*others, "--open", last] if looks_like_one and not is_value else list(words)


def _place(text: str) -> str:
    """A link as it is, a folder by its full path."""
    try:
        full = text if text.startswith(SCHEME) else os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 (resolve fails on loops)
        return spelled(parse_place(full))
    except (NacreError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error


class _Command(argparse.ArgumentParser):
    """A command, whose words are laid out by `fill` once it is the one that was asked for."""

    def __init__(
        self, *, fill: Callable[[argparse.ArgumentParser], object] | None = None, **usual: Any
    ) -> None:
        super().__init__(**usual)
        self._fill = fill

    # Typed as three functions there; what is done is the same for all.
    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        fill, self._fill = self._fill, None
        if fill is not None:
            _add_data_dir(self)
            self.add_argument("--json", action="store_true", help="print one JSON object a line")
            fill(self)
        return super().parse_known_args(args, namespace)


def parser() -> argparse.ArgumentParser:
    """The words of the command; `--data-dir` may stand before or after a command's name."""
    top = argparse.ArgumentParser(
        prog="nacre",
        description="Work with an AI agent in your own folders. Without a command: the window.",
    )
    _add_data_dir(top)
    top.add_argument("--version", action=_Version, nargs=0, help="say the version and end")
    top.add_argument(
        "--selftest",
        action="store_true",
        help="prove this installation on a folder of its own, print what was found, and end",
    )
    top.add_argument(
        "--selftest-window",
        metavar="FILE.png",
        help="open the window, save a picture of the last conversation and its text, and end",
    )
    top.add_argument(
        "--open",
        metavar="PLACE",
        type=_place,
        default=None,  # an empty text would be read as a folder
        help="a folder, or a conversation's nacre://tab/… link; `--open` itself may be left out",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Command)
    commands.add_parser("run", fill=_add_run, help="one turn, no window")
    commands.add_parser("tabs", fill=_add_tabs, help="list conversations")
    commands.add_parser("show", fill=_add_show, help="print a conversation")
    commands.add_parser("search", fill=_add_search, help="find messages")
    commands.add_parser("import-records", fill=_add_records, help="take over legacy records")
    commands.add_parser("backup", fill=_add_backup, help="make a checked backup")
    commands.add_parser("restore", fill=_add_restore, help="bring a backup back")
    commands.add_parser("doctor", fill=lambda _: None, help="look for what is wrong")
    return top


def _add_data_dir(words: argparse.ArgumentParser) -> None:
    words.add_argument(
        "--data-dir",
        metavar="FOLDER",
        default=argparse.SUPPRESS,
        help="where Nacre keeps its data (else NACRE_DATA_DIR, else the system's place)",
    )


def _add_records(records: argparse.ArgumentParser) -> None:
    records.add_argument("folder", metavar="DIR", help="the folder with projects/ and agents/")


def _add_backup(backup: argparse.ArgumentParser) -> None:
    backup.add_argument(
        "file", metavar="FILE", nargs="?", help="a new file, or a folder (else the data folder's)"
    )


def _add_restore(restore: argparse.ArgumentParser) -> None:
    restore.add_argument("file", metavar="FILE", help="what `nacre backup` made")


def _add_tabs(tabs: argparse.ArgumentParser) -> None:
    shelf = tabs.add_mutually_exclusive_group()
    for name, words in (
        ("archived", "only those in the archive"),
        ("bin", "those in the bin, which are not listed otherwise"),
    ):
        shelf.add_argument(
            f"--{name}", dest="shelf", action="store_const", const=name, default="all", help=words
        )


def _add_show(show: argparse.ArgumentParser) -> None:
    from desktop.core.cursor import MOST_ROWS

    show.add_argument("tab", metavar="TAB", help="its id, or the first letters of it")
    place = show.add_mutually_exclusive_group()
    place.add_argument(
        "--after", metavar="SEQ[:ID]", type=_cursor, help="the rows after this one (0: the first)"
    )
    place.add_argument("--before", metavar="SEQ[:ID]", type=_cursor, help="the rows before it")
    show.add_argument(
        "--limit",
        metavar="N",
        type=_page,
        help=f"at most N rows, up to {MOST_ROWS} (the last ones, without a place)",
    )


def _cursor(text: str) -> Cursor:
    from desktop.core.cursor import Cursor

    try:
        return Cursor.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _page(text: str) -> int:
    from desktop.core.cursor import MOST_ROWS

    number = _count(text)
    if number > MOST_ROWS:
        raise argparse.ArgumentTypeError(f"it must be {MOST_ROWS} or less")
    return number


def _add_search(search: argparse.ArgumentParser) -> None:
    search.add_argument("text", metavar="TEXT", help='words to find; "double quotes" for a phrase')
    search.add_argument(
        "--limit", metavar="N", type=_count, default=20, help="the newest N (20 without it)"
    )


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("text", metavar="TEXT", help="what to say; - reads it from standard input")
    place = run.add_mutually_exclusive_group()
    place.add_argument("--workspace", metavar="DIR", help="begin a conversation in this folder")
    place.add_argument("--tab", metavar="TAB", help="go on in this conversation")
    run.add_argument(
        "--attach",
        metavar="FILE",
        action="append",
        default=[],
        help="a picture, PDF or text that goes with it; may be given several times",
    )
    run.add_argument("--model", metavar="MODEL")
    run.add_argument("--effort", choices=("low", "medium", "high", "xhigh", "max"))
    run.add_argument("--permission", choices=("read-only", "ask", "accept-edits", "auto"))
    run.add_argument(
        "--store",
        type=_store,
        metavar="{sql,null,jsonl:DIR}",
        help="for a new conversation; null: nothing is written; jsonl:DIR: a file in this folder",
    )


def _store(text: str) -> str:
    """A word of `--store` that names a store."""
    kind, _, folder = text.partition(":")
    if text in ("sql", "null") or (kind == "jsonl" and folder):
        return text
    if kind == "jsonl":
        raise argparse.ArgumentTypeError("say in which folder: jsonl:DIR")
    raise argparse.ArgumentTypeError(f"there is no store {text!r}; it is sql, null or jsonl:DIR")
