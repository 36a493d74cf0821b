"""`python -m tests.bench NAME…`: prints one line a figure; with no name, every measurement."""

import argparse
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterable
from dataclasses import fields

import tests.bench
from tests.bench import Figure, Options


def names() -> list[str]:
    """The measurements there are, by the names of their modules."""
    found = pkgutil.iter_modules(tests.bench.__path__)
    return sorted(module.name for module in found if not module.ispkg and module.name[0] != "_")


def main(arguments: list[str]) -> int:
    known = names()
    asked = _parser(known).parse_args(arguments)
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        print(f"no such measurement: {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    options = Options(**{field.name: getattr(asked, field.name) for field in fields(Options)})
    for name in asked.names or known:
        for figure in _figures(name, options):
            print(figure.line(), flush=True)
    return 0


def _figures(name: str, options: Options) -> Iterable[Figure]:
    measure = importlib.import_module(f"tests.bench.{name}").figures
    return measure(options) if inspect.signature(measure).parameters else measure()


def _parser(known: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests.bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    usual = Options()
    parser.add_argument("--runs", type=int, default=usual.runs, help="processes that `kill` kills")
    parser.add_argument("--seed", type=int, default=usual.seed, help="of what `kill` does")
    parser.add_argument("--rows", type=int, default=usual.rows, help="of a large log")
    parser.add_argument("--purge-rows", type=int, default=usual.purge_rows, help="of `purge`")
    parser.add_argument(
        "--seconds", type=float, default=usual.seconds, help="of `contention` and `idle`"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
