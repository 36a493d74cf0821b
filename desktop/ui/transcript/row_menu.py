"""The menu of a row: what is marked, and everything that can be done with the row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from desktop.ui.transcript.acts import Act
from desktop.ui.transcript.phrases import say


@dataclass(frozen=True, slots=True)
class RowMenu:
    """What a menu offers. `acts` are those of the row, none where there is no row."""

    acts: tuple[Act, ...]
    is_prompt: bool
    has_marked: bool
    act: Callable[[Act], object]
    copy_marked: Callable[[], object]
    copy_part: Callable[[], object] | None
    select_all: Callable[[], object]

    def make(self, parent: QWidget) -> QMenu:
        """The menu, which deletes itself when it is closed."""
        menu = QMenu(parent)
        menu.setObjectName("rowMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(say("Copy"), self.copy_marked).setEnabled(self.has_marked)
        if self.copy_part is not None:
            menu.addAction(say("Copy this part"), self.copy_part)
        if "subagent" in self.acts:
            menu.addAction(say("Open its conversation"), lambda: self.act("subagent"))
        if self.acts and not self.is_prompt:
            menu.addAction(say("Copy the answer"), lambda: self.act("copy"))
        others: tuple[tuple[Act, str], ...] = (
            ("edit", say("Edit…")),
            ("regenerate", say("Regenerate the answer")),
            ("fork", say("Fork from here")),
        )
        if not {"edit", "regenerate", "fork"}.isdisjoint(self.acts):
            menu.addSeparator()
        for act, words in others:
            if act in self.acts:
                menu.addAction(words, lambda act=act: self.act(act))
        menu.addSeparator()
        menu.addAction(say("Select all"), self.select_all)
        return menu
