"""What the mouse points at in a row, without a mouse (SPEC U38)."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QMenu

from desktop.core.chunks import ToolCall, ToolResult
from desktop.ui.transcript.view import TranscriptView
from tests.ui.conftest import until
from tests.ui.transcript.desk import Desk

ANSWER = """See [the reef](https://example.org/reef) & [again](https://example.org/reef).

```python
shell = 1
```

```
plain\u202e text
```

[Mail](mailto:someone@example.org)
"""


def menu_by_key(view: TranscriptView) -> QMenu:
    view.setFocus()
    middle = view.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, QPoint())
    QGuiApplication.sendEvent(view.viewport(), event)
    menu = view.findChild(QMenu, "rowMenu")
    assert isinstance(menu, QMenu)
    return menu


def words(menu: QMenu) -> list[str]:
    return [one.text() for one in menu.actions() if one.text()]


def entry(menu: QMenu, text: str) -> QAction:
    (found,) = (one for one in menu.actions() if one.text() == text)
    return found


def inner(menu: QMenu, text: str) -> QMenu:
    found = entry(menu, text).menu()
    assert isinstance(found, QMenu)
    return found


def close(desk: Desk, view: TranscriptView, menu: QMenu) -> None:
    menu.close()
    desk.settle()
    desk.run(until(lambda: view.findChild(QMenu, "rowMenu") is None))


def test_u38_the_menu_of_a_row_has_its_links_and_blocks_of_code(desk: Desk) -> None:
    desk.say(ANSWER)
    view = desk.show()
    told: list[str] = []
    view.link_activated.connect(told.append)
    kept: list[tuple[str, str]] = []
    view.code_wanted.connect(lambda text, language: kept.append((text, language)))
    menu = menu_by_key(view)
    assert "Link to example.org" in words(menu)
    assert words(menu).count("Link to example.org") == 1
    entry(menu, "Link to example.org").trigger()
    entry(menu, "Link to someone@example.org").trigger()
    assert told == ["https://example.org/reef", "mailto:someone@example.org"]
    code = inner(menu, "python: shell = 1")
    assert words(code) == ["Copy the code", "Save the code…", "Wrap the code"]
    entry(code, "Copy the code").trigger()
    assert QGuiApplication.clipboard().text() == "shell = 1\n"
    entry(code, "Save the code…").trigger()
    assert kept == [("shell = 1\n", "python")]
    assert inner(menu, "Text: plain‹U+202E› text")
    close(desk, view, menu)


def test_u38_enter_unfolds_a_card_and_its_menu_opens_all_of_it(desk: Desk) -> None:
    output = "\n".join(f"line {number}" for number in range(2_000))
    desk.say(ToolCall("c1", "shell", {"command": "seq"}))
    desk.say(ToolResult("c1", "shell", output))
    view = desk.show()
    view.setFocus()
    id_ = desk.model.row(0).id
    folded = height(view, id_)
    desk.qtbot.keyClick(view, Qt.Key.Key_Return)
    desk.settle()
    unfolded = height(view, id_)
    menu = menu_by_key(view)
    (opens,) = (one for one in words(menu) if "open all" in one)
    entry(menu, opens).trigger()
    close(desk, view, menu)
    assert folded < unfolded < height(view, id_)
    desk.qtbot.keyClick(view, Qt.Key.Key_Space)
    desk.settle()
    assert height(view, id_) == folded


def test_u38_who_comes_by_the_keyboard_is_on_the_last_row_in_sight_and_nothing_moves(
    small_desk: Desk,
) -> None:
    desk = small_desk
    desk.say(*[f"Row {number}.\n\n" + "A line.\n" * 9 for number in range(60)])
    view = desk.show()
    view.jump(20)
    desk.settle()
    before = view.layout_now
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    desk.settle()
    assert view.layout_now == before
    assert view.currentIndex().row() == before.placed[-1].row


def height(view: TranscriptView, id_: str) -> int:
    box = view.box_of(id_)
    assert box is not None
    return box.height
