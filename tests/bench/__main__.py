"""`python -m tests.bench NAME…`: prints one line a figure; with no name, every measurement.

A measurement may have options of its own, such as `kill --runs 200`; `NAME --help` tells them.
"""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Iterable
from types import ModuleType

import tests.bench
from tests.bench import Figure


def names() -> list[str]:
    """The measurements there are, by the names of their modules."""
    found = pkgutil.iter_modules(tests.bench.__path__)
    return sorted(module.name for module in found if not module.ispkg and module.name[0] != "_")


def main(arguments: list[str]) -> int:
    known = names()
    asked = [word for word in arguments if word in known] or known
    modules = [importlib.import_module(f"tests.bench.{name}") for name in asked]
    parser = argparse.ArgumentParser(prog="tests.bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    with_options = [module for module in modules if hasattr(module, "add_options")]
    for module in with_options:
        module.add_options(parser)
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"no such measurement: {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    for module in modules:
        for figure in _figures(module, options, has_options=module in with_options):
            print(figure.line(), flush=True)
    return 0


def _figures(
    module: ModuleType, options: argparse.Namespace, *, has_options: bool
) -> Iterable[Figure]:
    return module.figures(options) if has_options else module.figures()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
