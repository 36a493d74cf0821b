"""Code into a file of the person's choice."""

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QWidget

from desktop.core.errors import NacreError
from desktop.ui.asking import choose_new_file
from desktop.ui.transcript.saying import say

_SUFFIXES = {
    "bash": ".sh",
    "c": ".c",
    "c++": ".cpp",
    "cpp": ".cpp",
    "cs": ".cs",
    "csharp": ".cs",
    "css": ".css",
    "csv": ".csv",
    "diff": ".diff",
    "go": ".go",
    "html": ".html",
    "java": ".java",
    "javascript": ".js",
    "js": ".js",
    "json": ".json",
    "jsx": ".jsx",
    "kotlin": ".kt",
    "lua": ".lua",
    "markdown": ".md",
    "md": ".md",
    "patch": ".patch",
    "perl": ".pl",
    "php": ".php",
    "powershell": ".ps1",
    "py": ".py",
    "python": ".py",
    "r": ".r",
    "rb": ".rb",
    "rs": ".rs",
    "ruby": ".rb",
    "rust": ".rs",
    "sh": ".sh",
    "shell": ".sh",
    "sql": ".sql",
    "svg": ".svg",
    "swift": ".swift",
    "toml": ".toml",
    "ts": ".ts",
    "tsx": ".tsx",
    "typescript": ".ts",
    "xml": ".xml",
    "yaml": ".yaml",
    "yml": ".yml",
}


def suggestion(language: str) -> str:
    """A name for a file of this language; of one that is not known, a text file's."""
    return say("code") + _SUFFIXES.get(language.lower(), ".txt")


async def save_code(parent: QWidget, text: str, language: str) -> None:
    """Asks where to, and writes a new file, byte for byte as copied. Raises NacreError."""
    path = await choose_new_file(parent, say("Save the code"), Path.home() / suggestion(language))
    if path is not None:
        await asyncio.to_thread(write_new, path, text)


def write_new(path: Path, text: str) -> None:
    """Blocks. Raises NacreError, also where a file of this name is there."""
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError as error:
        raise NacreError(
            say("There is already a file of this name: nothing was written.")
        ) from error
    except OSError as error:
        # Half a file is worse than none.
        path.unlink(missing_ok=True)
        raise NacreError(say("The file could not be saved."), detail=str(error)) from error
