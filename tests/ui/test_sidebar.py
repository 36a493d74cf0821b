"""The sidebar: its model, its selection, its filter (LOOK.md "The window")."""

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLabel, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from desktop.core.records import CatalogueView, Project, Tab, Workspace
from desktop.core.status import TabStatus
from desktop.ui.sidebar import Sidebar
from desktop.ui.sidebar_list import ConversationList
from desktop.ui.sidebar_model import Index, SidebarModel
from desktop.ui.sidebar_paint import SidebarDelegate
from desktop.ui.sidebar_rows import BranchesRow, ConversationRow, FolderRow, SidebarRow
from desktop.ui.theme import LIGHT, Theme

NOW = 1_795_000_000_000


def catalogue(*ids: str) -> CatalogueView:
    tabs = tuple(Tab(id_, 1, f"Title {id_}", 0, True, created_at=NOW) for id_ in ids)
    return CatalogueView(
        (Project(1, "/w/one", "one", "git"),), (Workspace(1, 1, "/w/one", "one"),), tabs
    )


@pytest.fixture
def sidebar(qtbot: QtBot) -> Sidebar:
    theme = Theme("light", LIGHT)
    made = Sidebar(theme)
    made.connect_list(ConversationList(theme, made))
    qtbot.addWidget(made)
    made.resize(260, 500)
    made.show()
    return made


def listed(sidebar: Sidebar) -> ConversationList:
    assert sidebar.conversations is not None
    return sidebar.conversations


def selected(sidebar: Sidebar) -> str:
    view = listed(sidebar)
    rows = view.selectionModel().selectedIndexes()
    return view.rows.row(rows[0].row()).key if rows else ""


def test_q02_the_model_passes_qts_tester_while_rows_come_change_and_go(qtbot: QtBot) -> None:
    model = SidebarModel()
    tester = QAbstractItemModelTester(
        model, QAbstractItemModelTester.FailureReportingMode.Warning, model
    )
    folder = FolderRow("w1", 1, "one", "/w/one", False)
    tab = ConversationRow("a", "a", "A", NOW, "", True)
    running = ConversationRow("a", "a", "A", NOW, "running", True)
    branches = BranchesRow("ba", "a", "2 other branches", folded=True)
    steps: list[list[SidebarRow]] = [
        [folder],
        [folder, tab],
        [folder, running],
        [folder, running, branches],
        [],
        [folder, tab],
    ]
    for rows in steps:
        model.set_rows(rows)
        assert model.rowCount() == len(rows)
    assert tester.model() is model


def test_a_status_changes_its_row_without_a_reset(qtbot: QtBot) -> None:
    model = SidebarModel()
    model.set_rows([ConversationRow("a", "a", "A", NOW, "", True)])
    with qtbot.assertNotEmitted(model.modelReset):
        model.set_rows([ConversationRow("a", "a", "A", NOW, "running", True)])
    index = model.index(0)
    assert model.data(index, Qt.ItemDataRole.AccessibleTextRole) == "A, running"


def test_the_conversation_in_view_is_selected_also_when_its_row_comes_later(
    sidebar: Sidebar, qtbot: QtBot
) -> None:
    listed(sidebar).show_current("b")
    listed(sidebar).show_catalogue(catalogue("a", "b"))
    qtbot.waitUntil(lambda: selected(sidebar) == "b")
    listed(sidebar).show_status(TabStatus("a", phase="running"))
    listed(sidebar).show_catalogue(catalogue("c", "a", "b"))
    qtbot.waitUntil(lambda: listed(sidebar).rows.rowCount() == 4)
    assert selected(sidebar) == "b"


def test_the_filter_leaves_what_holds_every_word(sidebar: Sidebar, qtbot: QtBot) -> None:
    listed(sidebar).show_catalogue(catalogue("a", "b"))
    qtbot.waitUntil(lambda: listed(sidebar).rows.rowCount() == 3)
    qtbot.keyClicks(sidebar.search, "title B")
    qtbot.waitUntil(lambda: listed(sidebar).rows.rowCount() == 2)
    assert listed(sidebar).rows.row(1).key == "b"


def test_who_walks_by_keys_goes_on_where_a_conversation_was_thrown_away(
    sidebar: Sidebar, qtbot: QtBot
) -> None:
    view = listed(sidebar)
    sidebar.activateWindow()
    view.show_catalogue(catalogue("a", "b", "c"))
    qtbot.waitUntil(lambda: view.rows.rowCount() == 4)
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    view.setCurrentIndex(view.rows.index_of("b"))
    assert view.chosen_tab == "b"
    with qtbot.waitSignal(view.trash_wanted) as wanted:
        qtbot.keyClick(view, Qt.Key.Key_Delete)
    assert wanted.args == ["b"]
    view.show_catalogue(catalogue("a", "c"))
    qtbot.waitUntil(lambda: view.rows.rowCount() == 3)
    assert view.chosen_tab == "c"


def test_u19_a_family_folds_and_unfolds_by_keys_and_says_so(sidebar: Sidebar, qtbot: QtBot) -> None:
    view = listed(sidebar)
    sidebar.activateWindow()
    tabs = (
        Tab("a", 1, "Fix it", 0, True, created_at=NOW),
        Tab("b", 1, "Fix it (2)", 1, True, created_at=NOW + 1, forked_from="a", forked_at_seq=4),
        Tab("c", 1, "Fix it (3)", 2, True, created_at=NOW + 2, forked_from="a", forked_at_seq=4),
    )
    plain = catalogue()
    view.show_catalogue(CatalogueView(plain.projects, plain.workspaces, tabs))
    qtbot.waitUntil(lambda: view.rows.rowCount() == 3)
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    spoken = Qt.ItemDataRole.AccessibleTextRole
    assert view.rows.data(view.rows.index(1), spoken) == "Fix it (3), branch of “Fix it”"
    assert view.rows.data(view.rows.index(2), spoken) == "2 other branches, folded"
    view.setCurrentIndex(view.rows.index(2))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert [view.rows.row(at).key for at in range(1, 5)] == ["c", "ba", "b", "a"]
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert view.rows.rowCount() == 3


def test_u40_where_no_title_holds_the_words_enter_looks_in_all_messages(
    sidebar: Sidebar, qtbot: QtBot
) -> None:
    listed(sidebar).show_catalogue(catalogue("a"))
    qtbot.keyClicks(sidebar.search, "pearl")

    def words() -> str:
        return " ".join(one.text() for one in sidebar.findChildren(QLabel) if one.isVisible())

    qtbot.waitUntil(lambda: "Enter looks in all messages" in words())
    with qtbot.waitSignal(sidebar.search_wanted) as wanted:
        qtbot.keyClick(sidebar.search, Qt.Key.Key_Return)
    assert wanted.args == ["pearl"]


def test_u09_thousands_of_rows_are_laid_out_by_asking_for_one(
    sidebar: Sidebar, qtbot: QtBot
) -> None:
    asked: list[int] = []

    class Counting(SidebarDelegate):
        def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
            asked.append(index.row())
            return super().sizeHint(option, index)

    view = listed(sidebar)
    view.setItemDelegate(Counting(Theme("light", LIGHT), view))
    view.show_catalogue(catalogue(*(f"t{n}" for n in range(3_000))))
    qtbot.waitUntil(lambda: view.rows.rowCount() == 3_001)
    view.show_current("t2999")
    qtbot.waitUntil(lambda: selected(sidebar) == "t2999")
    assert len(asked) < 50
