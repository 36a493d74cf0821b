"""Where the packaged program begins: its environment is made the person's again, then `nacre`.

The packager tells its loader and Qt where the bundle lies by variables that every child would
inherit: a browser opened from a link would then load our libraries (PLATFORM.md §0.6). The loader
has read them when this runs, and Qt finds its plugins beside itself.
"""

import os
import sys

_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")


def restore_environment(bundle: str) -> None:
    """Undoes what the packager set; what the person set stays."""
    for name in _PATHS:
        original = os.environ.pop(f"{name}_ORIG", None)
        if original is not None:
            os.environ[name] = original
        elif os.environ.get(name, "").startswith(bundle):
            del os.environ[name]
    # Or another copy of this program, started from here, would believe to be a part of it.
    for name in [name for name in os.environ if name.startswith("_PYI_")]:
        del os.environ[name]


def hold_archive() -> None:
    """What is loaded later comes from the program that was started, also when an update has put
    another in its place meanwhile (SPEC U35): its file is kept open, and read by that."""
    reader = getattr(sys.modules.get("pyimod02_importers"), "pyz_archive", None)
    held = getattr(reader, "_filename", None)
    if isinstance(held, str) and sys.platform == "linux":
        handle = os.open(held, os.O_RDONLY | os.O_CLOEXEC)
        reader._filename = f"/proc/self/fd/{handle}"  # pyright: ignore


def main() -> int:
    restore_environment(sys._MEIPASS)  # pyright: ignore
    hold_archive()
    # `desktop.tools.builtin.grep` starts its worker so; the command itself is never loaded for it.
    if sys.argv[1:] == ["--search-worker"]:
        from desktop.tools import searching  # noqa: PLC0415

        return searching.main()
    from desktop import cli  # noqa: PLC0415

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
