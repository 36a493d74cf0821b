"""What goes into the packaged program and what stays out, as lists that a test can read.

The lean bundle of PLATFORM.md §1: of Qt only what a program of widgets loads, no GTK, of the
standard library everything that a plugin written in Python may import.
"""

import re
import sys

# Their entry points, or their version, are asked for while the program runs.
METADATA = (
    *("nacre", "anthropic", "httpx2", "sqlmodel", "SQLAlchemy", "alembic", "PySide6_Essentials"),
    *("shiboken6", "qasync", "keyring", "SecretStorage", "markdown-it-py", "Pygments"),
    *("platformdirs", "filelock", "pathspec", "mcp", "opentelemetry-api"),
)

# Whole packages: their modules are found by name while the program runs.
COLLECTED = (
    *("desktop", "keyring.backends", "sqlalchemy.dialects.sqlite", "alembic.ddl"),
    *("pygments.lexers", "pygments.styles", "mcp.client"),
)

EXCLUDED = (
    # Not for people, or large and of no use without its own window system.
    *("tkinter", "turtle", "turtledemo", "idlelib", "test", "lib2to3", "ensurepip", "venv"),
    *("pydoc_data", "PyInstaller", "hatchling", "pip", "setuptools", "pkg_resources"),
    *("PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtQuickWidgets", "PySide6.QtPdf"),
    *("PySide6.QtDesigner", "PySide6.QtUiTools", "PySide6.QtHelp", "PySide6.QtSql"),
    *("PySide6.QtTest", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets", "PIL.ImageTk"),
    # Of terminals; readline is under a licence that would be the whole program's.
    *("readline", "rlcompleter", "curses", "_curses", "_curses_panel", "nis", "_gdbm", "_dbm"),
    # Pictures that are never read here, each with a large library of its own.
    *("PIL._avif", "PIL._imagingft", "PIL._imagingcms"),
    # What libraries test themselves with.
    *("sqlalchemy.testing", "alembic.testing", "numpy", "IPython"),
    *("_testcapi", "_testbuffer", "_testimportmultiple", "_testinternalcapi", "_testmultiphase"),
    *("_ctypes_test", "_xxtestfuzz", "xxlimited", "xxlimited_35"),
)

_QT = r"(PySide6/(Qt/)?(lib|plugins)/)"
DROPPED = re.compile(
    "|".join(
        (
            # Parts of Qt that nothing here loads.
            r"(^|/)(lib)?Qt6(Quick|Qml|Pdf|VirtualKeyboard|EglFS|OpenGLWidgets|Sql|Test|Designer"
            r"|Labs|Concurrent|Help|PrintSupport)\w*\.(so|dll|dylib)",
            r"(^|/)(lib)?Qt6EglFsKmsSupport|(^|/)(lib)?Qt6EglFSDeviceIntegration",
            rf"{_QT}platforms/libq(eglfs|linuxfb|vnc|vkkhrdisplay|minimal|minimalegl)\.",
            rf"{_QT}platformthemes/libqgtk3",
            rf"{_QT}(egldeviceintegrations|platforminputcontexts/\w*virtualkeyboard|generic|qmltooling"
            r"|sqldrivers|designer|printsupport|networkinformation)",
            rf"{_QT}imageformats/libq(pdf|tiff|tga|wbmp|icns)\.",
            # Words of Qt's own tools and parts.
            r"PySide6/Qt/translations/(?!qtbase_)",
            r"PySide6/Qt/(qml|metatypes|modules|resources|libexec)/",
            # GTK and what only it needs; systemd, Kerberos and block devices are the system's own,
            # and what was built against ours would not fit theirs.
            r"(^|/)lib(gtk-3|gdk-3|gdk_pixbuf|cairo|pango|atk|atspi|epoxy|harfbuzz|fribidi|thai"
            r"|datrie|graphite2|pixman|wayland-egl|systemd|krb5|gssapi|k5crypto|com_err|keyutils"
            r"|krb5support|blkid|mount|selinux|cap|gcrypt|gpg-error|pcre2|tirpc|ncurses|tinfo"
            r"|lz4|X(composite|cursor|damage|ext|fixes|i|inerama|randr|render))[-.\w]*\.so",
            # What a machine with a screen has, and what must be its own: drivers, fonts, the bus.
            r"(^|/)lib(GL|EGL|GLX|GLdispatch|drm|gbm|fontconfig|freetype|dbus-1|glib-2\.0"
            r"|gthread-2\.0|gio-2\.0|gobject-2\.0|gmodule-2\.0|xkbcommon|stdc\+\+|gcc_s|X11"
            r"|X11-xcb|Xau|Xdmcp|bsd|md|expat|png16|jpeg|brotli(common|dec)|zstd)\.so",
            # Names of the machine that it was built on, and of files that are not there.
            r"\.dist-info/(RECORD|INSTALLER|REQUESTED|direct_url\.json|licenses/)",
        )
    )
)

_NOT_STANDARD = frozenset(EXCLUDED) | {"antigravity", "this", "distutils", "__main__"}


def standard_library() -> list[str]:
    """The names of the modules that a plugin may import, without what is excluded."""
    windows = {"nt", "msvcrt", "winreg", "winsound", "_winapi", "msilib"}
    foreign = windows if sys.platform != "win32" else set[str]()
    return sorted(
        name
        for name in sys.stdlib_module_names
        if name not in _NOT_STANDARD | foreign and not name.startswith("_")
    )


def stays(name: str) -> bool:
    """Whether a file of the bundle, by its name in it, is kept."""
    return not DROPPED.search(name.replace("\\", "/"))
