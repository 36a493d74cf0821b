"""The menu of a row: what is marked, and everything that can be done with the row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from desktop.core.ways import Way
from desktop.ui.transcript.acts import Act, way_words
from desktop.ui.transcript.copying import Form
from desktop.ui.transcript.saying import say

Acts = tuple[tuple[str, Callable[[], object]], ...]


@dataclass(frozen=True, slots=True)
class RowMenu:
    """What a menu offers.

    `acts` and `ways` are those of the row, none where there is no row; `code` is what can be done
    with the block of code under the mouse, `codes` all blocks where a key asked; `parts` is what
    else of the row could be clicked. `is_written` says whether the row is shown as it
    was written, None where it always is.
    """

    acts: tuple[Act, ...]
    ways: tuple[Way, ...]
    is_prompt: bool
    has_marked: bool
    act: Callable[[Act], object]
    go: Callable[[Way], object]
    copy_marked: Callable[[Form], object]
    copy_part: Callable[[], object] | None
    copy_plain: Callable[[], object] | None
    select_all: Callable[[], object]
    code: Acts = ()
    codes: tuple[tuple[str, Acts], ...] = ()
    parts: Acts = ()
    is_bookmarked: bool = False
    is_written: bool | None = None
    toggle_written: Callable[[], object] | None = None

    def make(self, parent: QWidget) -> QMenu:
        """The menu, which deletes itself when it is closed."""
        menu = QMenu(parent)
        menu.setObjectName("rowMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copies: tuple[tuple[str, Form], ...] = (
            (say("Copy"), "plain"),
            (say("Copy as Markdown"), "markdown"),
        )
        for words, form in copies:
            made = menu.addAction(words, lambda form=form: self.copy_marked(form))
            made.setEnabled(self.has_marked)
        if self.copy_part is not None:
            menu.addAction(say("Copy this part"), self.copy_part)
        if "subagent" in self.acts:
            menu.addAction(say("Open its conversation"), lambda: self.act("subagent"))
        if self.copy_plain is not None:
            menu.addAction(say("Copy as plain text"), self.copy_plain)
        if self.acts and not self.is_prompt:
            menu.addAction(say("Copy the answer"), lambda: self.act("copy"))
        for words, act in self.code:
            menu.addAction(words, act)
        self._add_parts(menu)
        if self.ways:
            menu.addSeparator()
        for way in self.ways:
            menu.addAction(way_words(way), lambda way=way: self.go(way))
        others: tuple[tuple[Act, str], ...] = (
            ("edit", say("Edit…")),
            ("regenerate", say("Regenerate the answer")),
            ("fork", say("Fork from here")),
            ("quote", say("Quote")),
        )
        if not {"edit", "regenerate", "fork", "quote"}.isdisjoint(self.acts):
            menu.addSeparator()
        for act, words in others:
            if act in self.acts:
                menu.addAction(words, lambda act=act: self.act(act))
        if "bookmark" in self.acts:
            marked = menu.addAction(say("Bookmark"), lambda: self.act("bookmark"))
            marked.setCheckable(True)
            marked.setChecked(self.is_bookmarked)
        menu.addSeparator()
        if self.is_written is not None and self.toggle_written is not None:
            shown = menu.addAction(say("Show as written"), self.toggle_written)
            shown.setCheckable(True)
            shown.setChecked(self.is_written)
        menu.addAction(say("Select all"), self.select_all)
        return menu

    def _add_parts(self, menu: QMenu) -> None:
        if self.codes or self.parts:
            menu.addSeparator()
        for words, acts in self.codes:
            inner = menu.addMenu(_plain(words))
            for word, act in acts:
                inner.addAction(word, act)
        for words, act in self.parts:
            menu.addAction(_plain(words), act)


def _plain(text: str) -> str:
    """Text of a menu where & and tabs mean nothing."""
    return text.replace("&", "&&").replace("\t", " ")
