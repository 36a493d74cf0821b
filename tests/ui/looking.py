"""Who looks at the states that a person brings the window into, as a screen reader and Tab do."""

from PySide6.QtWidgets import QApplication, QDialog, QWidget

from tests.ui.everyone import misheard, untabbed
from tests.ui.program import Person


class Looker:
    """Looks at each state that the person brings the window into."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.wrong: list[str] = []

    def look(self, state: str, part: QWidget, first: QWidget | None = None) -> None:
        """With Tab too, from `first` on, where the keyboard goes into the part."""
        found = misheard(part)
        if first is not None:
            found += untabbed(part, first, self.person.now)
        self.wrong += [f"{state}: {one}" for one in dict.fromkeys(found)]

    def look_at_dialog(self, state: str, name: str) -> None:
        """Once it has found what it looks for at first: its parts don't move any more."""
        self.person.wait(lambda: "…" not in {one[-1:] for one in self.person.labels().split("\n")})
        dialog = self.person.part(QDialog, name)
        self.look(state, dialog, first_stop(dialog))


def first_stop(dialog: QWidget) -> QWidget:
    return dialog.focusWidget() or dialog.nextInFocusChain()


def focused() -> QWidget:
    part = QApplication.focusWidget()
    assert part is not None
    return part
