"""`python -m tests.bench NAME…`: prints one line a figure; with no name, every measurement."""

import importlib
import pkgutil
import sys

import tests.bench


def names() -> list[str]:
    """The measurements there are, by the names of their modules."""
    found = pkgutil.iter_modules(tests.bench.__path__)
    return sorted(module.name for module in found if not module.ispkg and module.name[0] != "_")


def main(arguments: list[str]) -> int:
    known = names()
    unknown = [name for name in arguments if name not in known]
    if unknown:
        print(f"no such measurement: {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    for name in arguments or known:
        for figure in importlib.import_module(f"tests.bench.{name}").figures():
            print(figure.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
