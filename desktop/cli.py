"""The `nacre` command: reads its words and hands over to one of the two roots.

Exit codes: 0 done, 1 the turn failed, 2 bad use, 3 no credential (DESIGN.md §8). Nothing heavy is
loaded to say what is wrong with the words.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from desktop.core.errors import NacreError
from desktop.core.links import SCHEME, parse_place, spelled
from desktop.core.loading import at_rest
from desktop.core.records import MOST_ROWS, Cursor
from desktop.diagnostics import program_version

COMMANDS = frozenset(
    ("run", "tabs", "show", "search", "import-records", "backup", "restore", "doctor")
)
DONE, FAILED, BAD_USE, NO_CREDENTIAL = 0, 1, 2, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code and never lets a traceback reach the person."""
    arguments = parser().parse_args(with_place(sys.argv[1:] if argv is None else argv))
    try:
        return _run(arguments)
    except NacreError as error:
        print(f"nacre: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return 130


def _run(arguments: argparse.Namespace) -> int:
    data_dir: str | None = getattr(arguments, "data_dir", None)
    if arguments.selftest:
        from desktop.app.installation import prove_installation

        return prove_installation()
    if arguments.command is None:
        from desktop.app import run_window

        return run_window(data_dir, place=arguments.open or "", selftest=arguments.selftest_window)
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


def parser() -> argparse.ArgumentParser:
    """The words of the command; `--data-dir` may stand before or after a command's name."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--data-dir",
        metavar="FOLDER",
        default=argparse.SUPPRESS,
        help="where Nacre keeps its data (else NACRE_DATA_DIR, else the system's place)",
    )
    as_json = argparse.ArgumentParser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print one JSON object a line")
    top = argparse.ArgumentParser(
        prog="nacre",
        description="Work with an AI agent in your own folders. Without a command: the window.",
        parents=[shared],
    )
    top.add_argument("--version", action="version", version=f"Nacre {program_version()}")
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
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    _add_run(commands.add_parser("run", parents=[shared, as_json], help="one turn, no window"))
    _add_tabs(commands.add_parser("tabs", parents=[shared, as_json], help="list conversations"))
    _add_show(commands.add_parser("show", parents=[shared, as_json], help="print a conversation"))
    _add_search(commands.add_parser("search", parents=[shared, as_json], help="find messages"))
    records = commands.add_parser(
        "import-records", parents=[shared, as_json], help="take over legacy records"
    )
    records.add_argument("folder", metavar="DIR", help="the folder with projects/ and agents/")
    keep = commands.add_parser("backup", parents=[shared, as_json], help="make a checked backup")
    keep.add_argument(
        "file", metavar="FILE", nargs="?", help="a new file, or a folder (else the data folder's)"
    )
    back = commands.add_parser("restore", parents=[shared, as_json], help="bring a backup back")
    back.add_argument("file", metavar="FILE", help="what `nacre backup` made")
    commands.add_parser("doctor", parents=[shared, as_json], help="look for what is wrong")
    return top


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
    try:
        return Cursor.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _page(text: str) -> int:
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
