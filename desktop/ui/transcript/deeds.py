"""What a click on a row does, and what the menu of a row offers."""

from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from desktop.core.groups import Row
from desktop.ui.transcript.acts import answer_text, is_answer, is_prompt
from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.copying import Form
from desktop.ui.transcript.overlay import Wish, acts_of, ways_of, wish_of
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.parts import Offer, part_offers
from desktop.ui.transcript.phrases import plain_text, say
from desktop.ui.transcript.row_menu import RowMenu


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
        match hit.kind:
            case "link":
                self.link_activated.emit(hit.value)
            case "copy":
                QGuiApplication.clipboard().setText(hit.value)
                place = self._viewport.mapToGlobal(at.toPoint())
                QToolTip.showText(place, say("Copied"), self._viewport)
            case "save" | "wrap":
                piece = page.piece_at(at)
                if isinstance(piece, CodePiece):
                    self._act_on_code(page, row.id, piece.code, wrap=hit.kind == "wrap")
            case "subagent":
                self.wish(page, wish_of(page, row, "subagent"))
            case "open":
                self.open_requested.emit(hit.value)
            case "all":
                page.set_fold(row.id, "all")
            case "fold":
                self.ringed.emit(row.id)
                page.toggle(row.id)
            case "text" | "slide":
                pass

    def wish(self, page: Page | None, wish: Wish) -> None:
        """A copy is made at once; anything else is said."""
        at = page.rows.place(wish.row_id) if page is not None else None
        if wish.act != "copy":
            self.wished.emit(wish)
        elif page is not None and at is not None:
            text = answer_text(page.rows.rows(), at, page.rows.context())
            QGuiApplication.clipboard().setText(text)

    def menu(self, page: Page, at: int, place: QPointF, parent: QWidget) -> QMenu:
        """The menu of the row at `at` (none where it is negative), opened at a point."""
        piece = page.piece_at(place)
        code = piece.code if isinstance(piece, CodePiece) else None
        return self._row_menu(page, at, code).make(parent)

    def _row_menu(self, page: Page, at: int, code: Code | None) -> RowMenu:
        row = page.rows.row(at) if at >= 0 else None
        text = plain_text(row, page.rows.context()) if row is not None else ""

        def select_all() -> None:
            page.marking.mark_all()
            self.marked.emit()

        def copy(form: Form) -> None:
            self.copied.emit(form)

        return RowMenu(
            acts=acts_of(page, at) if row is not None else (),
            ways=ways_of(page, at) if row is not None else (),
            is_prompt=row is not None and is_prompt(row),
            has_marked=not page.marking.empty,
            act=lambda act: row is not None and self.wish(page, wish_of(page, row, act)),
            go=self.way_wanted.emit,
            copy_marked=copy,
            copy_part=(lambda: QGuiApplication.clipboard().setText(text)) if text else None,
            select_all=select_all,
            code=self._code_acts(page, row, code) if row is not None else (),
            is_bookmarked=row is not None and page.rows.is_bookmarked(row),
            is_written=page.shelf.is_written(row.id) if row and is_answer(row) else None,
            toggle_written=lambda: row is not None and page.toggle_written(row.id),
        )

    def _code_acts(self, page: Page, row: Row, code: Code | None) -> tuple[Offer, ...]:
        """Of the code under the mouse, and of the parts of the row."""
        offers = part_offers(page, row, self.open_requested.emit)
        if code is None:
            return offers
        wrap = say("Don't wrap the code") if code.wrapped else say("Wrap the code")
        return (
            (say("Copy the code"), lambda: QGuiApplication.clipboard().setText(code.text)),
            (say("Save the code…"), lambda: self._act_on_code(page, row.id, code, wrap=False)),
            (wrap, lambda: self._act_on_code(page, row.id, code, wrap=True)),
            *offers,
        )

    def _act_on_code(self, page: Page, id_: str, code: Code, *, wrap: bool) -> None:
        if wrap:
            page.toggle_wrapping(id_, code)
        else:
            self.code_wanted.emit(code.text, code.language)
