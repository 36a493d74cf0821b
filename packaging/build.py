"""Makes installable packages of this folder, with one command.

    python3 packaging/build.py --target deb        one of: bundle tree deb rpm appimage linux
    python3 packaging/build.py --licences          gathers resources/licences anew

`bundle` is the program's folder, `tree` how it lies on a Linux machine, `linux` makes all three
packages. What comes out lies in `build/packages`. `--again` takes the bundle that
was made last. Windows and macOS: see packaging/README.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import appimage
import bundle
import deb
import linux_tree
import rpm_package
from facts import CantBuild

MAKERS: dict[str, Callable[[Path], Path]] = {
    "deb": deb.build,
    "rpm": rpm_package.build,
    "appimage": appimage.build,
}


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        if options.licences:
            python = bundle.environment()
            print(bundle.run([str(python), str(bundle.ROOT / "packaging" / "licences.py")]), end="")
            return 0
        return make(options.target, again=options.again)
    except CantBuild as trouble:
        print(f"\n{trouble}", file=sys.stderr)
        return 1


def make(target: str, *, again: bool) -> int:
    wanted = list(MAKERS) if target == "linux" else [one for one in MAKERS if one == target]
    made = bundle.BUILD / "bundle" / "nacre"
    icons = bundle.BUILD / "icons"
    if not (again and made.exists() and icons.exists()):
        python = bundle.environment()
        icons = bundle.draw_icons(python)
        made = bundle.make(python)
    print(f"{made}: {linux_tree.size_of(made) / 1e6:.1f} MB")
    if target == "bundle":
        return 0
    if sys.platform != "linux":
        raise CantBuild("These packages are built on Linux.")
    tree = linux_tree.lay_out(made, icons, bundle.BUILD / "tree")
    skipped = 0
    for name in wanted:
        try:
            package = MAKERS[name](tree)
        except CantBuild as trouble:
            if target != "linux" or name != "appimage":
                raise
            print(trouble)
            skipped += 1
            continue
        print(f"{package}: {package.stat().st_size / 1e6:.1f} MB")
    print(f"{len(wanted) - skipped} packages made, {skipped} skipped")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--target", choices=("bundle", "tree", *MAKERS, "linux"))
    what.add_argument("--licences", action="store_true")
    parser.add_argument("--again", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
