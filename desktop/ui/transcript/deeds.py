"""What a click on a row does, and what the menu of a row offers."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from desktop.core.groups import Row
from desktop.ui.transcript.acts import answer_text, is_answer, is_prompt
from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.copying import Form
from desktop.ui.transcript.overlay import Wish, acts_of, ways_of, wish_of
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.phrases import plain_text
from desktop.ui.transcript.pieces import Hit
from desktop.ui.transcript.row_menu import Acts, RowMenu
from desktop.ui.transcript.row_parts import with_codes, with_parts
from desktop.ui.transcript.saying import say


class Deeds(QObject):
    """Does what needs no one else, and says the rest: `wished(Wish)`, `way_wanted(Way)`,
    `link_activated(target)`, `code_wanted(text, language)`, `open_requested(file)`. `ringed(id)`
    is the row that was unfolded by a click; `copied(Form)` asks for what is marked."""

    wished = Signal(object)
    way_wanted = Signal(str)
    link_activated = Signal(str)
    code_wanted = Signal(str, str)
    open_requested = Signal(str)
    ringed = Signal(str)
    copied = Signal(str)
    marked = Signal()

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport

    def click(self, page: Page, at: QPointF) -> None:
        hit, row = page.hit_at(at), page.row_at(at.y())
        if hit is None or row is None:
            return
        piece = page.piece_at(at)
        if hit.kind == "copy":
            QGuiApplication.clipboard().setText(hit.value)
            place = self._viewport.mapToGlobal(at.toPoint())
            QToolTip.showText(place, say("Copied"), self._viewport)
        elif hit.kind in ("save", "wrap") and isinstance(piece, CodePiece):
            self._act_on_code(page, row.id, piece.code, wrap=hit.kind == "wrap")
        else:
            self._do(page, row, hit)

    def _do(self, page: Page, row: Row, hit: Hit) -> None:
        """What a click on a place of a row does, wherever it came from."""
        match hit.kind:
            case "link":
                self.link_activated.emit(hit.value)
            case "subagent":
                self.wish(page, wish_of(page, row, "subagent"))
            case "open":
                self.open_requested.emit(hit.value)
            case "all":
                page.set_fold(row.id, "all")
            case "fold":
                self.ringed.emit(row.id)
                page.toggle(row.id)
            case "reveal":
                page.toggle_revealed(row.id)
            case "text" | "slide" | "copy" | "save" | "wrap":
                pass

    def wish(self, page: Page | None, wish: Wish) -> None:
        """A copy is made at once; anything else is said."""
        at = page.rows.place(wish.row_id) if page is not None else None
        if wish.act != "copy":
            self.wished.emit(wish)
        elif page is not None and at is not None:
            text = answer_text(page.rows.rows(), at, page.rows.context())
            QGuiApplication.clipboard().setText(text)

    def menu(self, page: Page, at: int | None, place: QPointF | None, parent: QWidget) -> QMenu:
        """The menu of the row at `at`, none where that is None, opened at a point of the screen or
        by a key: what the mouse would point at in the row is in it (SPEC U38)."""
        piece = page.piece_at(place) if place is not None else None
        code = piece.code if isinstance(piece, CodePiece) else None
        row = page.rows.row(at) if at is not None else None
        if at is None or row is None:
            return self._row_menu(page, None, None, None).make(parent)
        menu = self._row_menu(page, at, row, code)
        box = page.shelf.box(row)
        menu = with_parts(menu, box, lambda hit: self._do(page, row, hit))
        if place is None:
            menu = with_codes(menu, box, lambda code: self._code_acts(page, row.id, code))
        return menu.make(parent)

    def _row_menu(self, page: Page, at: int | None, row: Row | None, code: Code | None) -> RowMenu:
        text = plain_text(row, page.rows.context()) if row is not None else ""
        read = _as_read(page, row) if row is not None and is_answer(row) else ""

        def select_all() -> None:
            page.marking.mark_all()
            self.marked.emit()

        def copy(form: Form) -> None:
            self.copied.emit(form)

        return RowMenu(
            acts=acts_of(page, at) if at is not None else (),
            ways=ways_of(page, at) if at is not None else (),
            is_prompt=row is not None and is_prompt(row),
            has_marked=not page.marking.empty,
            act=lambda act: row is not None and self.wish(page, wish_of(page, row, act)),
            go=self.way_wanted.emit,
            copy_marked=copy,
            copy_part=_copies(text),
            copy_plain=_copies(read),
            select_all=select_all,
            code=self._code_acts(page, row.id, code) if row is not None and code else (),
            is_bookmarked=row is not None and page.rows.is_bookmarked(row),
            is_written=page.shelf.is_written(row.id) if row and is_answer(row) else None,
            toggle_written=lambda: row is not None and page.toggle_written(row.id),
        )

    def _code_acts(self, page: Page, id_: str, code: Code) -> Acts:
        wrap = say("Don't wrap the code") if code.wrapped else say("Wrap the code")
        shown: Acts = ()
        if code.hidden:
            words = say("Hide what the code hides") if code.revealed else say("Show what it hides")
            shown = ((words, lambda: page.toggle_revealed(id_)),)
        return (
            *shown,
            (say("Copy the code"), lambda: QGuiApplication.clipboard().setText(code.text)),
            (say("Save the code…"), lambda: self._act_on_code(page, id_, code, wrap=False)),
            (wrap, lambda: self._act_on_code(page, id_, code, wrap=True)),
        )

    def _act_on_code(self, page: Page, id_: str, code: Code, *, wrap: bool) -> None:
        if wrap:
            page.toggle_wrapping(id_, code)
        else:
            self.code_wanted.emit(code.text, code.language)


def _as_read(page: Page, row: Row) -> str:
    """The text of an answer as it is seen."""
    box = page.shelf.box(row)
    return box.text_between((0, 0), box.end)


def _copies(text: str) -> Callable[[], object] | None:
    """Copies a text; None where there is none."""
    return (lambda: QGuiApplication.clipboard().setText(text)) if text else None
