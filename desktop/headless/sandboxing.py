"""What the sandbox has to know of this program: its own places, and who hears a caution."""

from collections.abc import Callable
from pathlib import Path

from desktop import settings
from desktop.core.confinement import Confinement
from desktop.core.permissions import Act
from desktop.paths import DataFolder


def private_places(folder: DataFolder, preferences: settings.Preferences) -> tuple[Path, ...]:
    """What no command may read: the data folder, with all keys and conversations, and backups."""
    backups = preferences.value(settings.BACKUP_FOLDER)
    return (folder.root, *([Path(backups)] if backups else []))


class Cautions:
    """Says once a program that a command runs without a sandbox and without a question.

    Choosing the mode "auto" is the person's consent to that, so it is not asked again.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._has_told = False

    def __call__(self, act: Act) -> None:
        if not self._has_told:
            self._has_told = True
            self._report(
                f"Commands run without asking and without a sandbox. {act.caution}".rstrip()
            )


def confinement_report(confinement: Confinement) -> dict[str, object]:
    """For `nacre doctor`."""
    return {
        "state": "sandboxed" if confinement.is_sandboxed else "not sandboxed",
        "why": confinement.why,
        "wayOut": confinement.way_out,
    }
