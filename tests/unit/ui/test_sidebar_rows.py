"""The sidebar's rows are a function of metadata and statuses (LOOK.md "The window")."""

from desktop.core.permissions import Act, Question
from desktop.core.records import CatalogueView, Project, Tab, Workspace
from desktop.core.status import TabStatus
from desktop.ui.sidebar_rows import (
    DAY_MS,
    ConversationRow,
    FolderRow,
    SidebarRow,
    SpanRow,
    sidebar_rows,
)

NOW = 100 * DAY_MS


def tab(id_: str, *, workspace: int = 1, moment: int = NOW, title: str = "") -> Tab:
    return Tab(id_, workspace, title, 0, True, created_at=moment, last_message_at=moment)


def view(*tabs: Tab) -> CatalogueView:
    return CatalogueView(
        projects=(Project(1, "/w/one", "one", "git"),),
        workspaces=(Workspace(1, 1, "/w/one", "one"), Workspace(2, 1, "/w/two", "two")),
        tabs=tabs,
    )


def rows(
    found: CatalogueView,
    *,
    words: str = "",
    folded: frozenset[int] = frozenset(),
    statuses: dict[str, TabStatus] | None = None,
    unseen: frozenset[str] = frozenset(),
) -> tuple[SidebarRow, ...]:
    return sidebar_rows(
        found,
        words=words,
        folded=folded,
        statuses=statuses or {},
        unseen=unseen,
        span_of=lambda moment: "Today" if moment >= NOW else "Older",
        untitled="New conversation",
    )


def test_folders_come_by_their_last_activity_and_conversations_by_time() -> None:
    found = rows(
        view(
            tab("a", moment=NOW + 1),
            tab("b", moment=NOW + 3),
            tab("c", workspace=2, moment=NOW + 9),
        )
    )
    assert [row.key for row in found] == ["w2", "c", "w1", "b", "a"]


def test_spans_stand_only_where_there_are_several() -> None:
    found = rows(view(tab("new"), tab("old", moment=0), tab("x", workspace=2)))
    assert [row.title for row in found if isinstance(row, SpanRow)] == ["Today", "Older"]


def test_a_folded_folder_hides_its_conversations_but_not_from_the_search() -> None:
    found = view(tab("a", title="Fix the tests"), tab("b", title="Other"))
    assert [row.key for row in rows(found, folded=frozenset({1}))] == ["w1", "w2"]
    assert [row.key for row in rows(found, folded=frozenset({1}), words="TESTS fix")] == ["w1", "a"]


def test_an_empty_folder_is_shown_and_an_untitled_conversation_has_words() -> None:
    found = rows(view(tab("a")))
    assert any(isinstance(row, FolderRow) and row.workspace_id == 2 for row in found)
    assert [row.title for row in found if isinstance(row, ConversationRow)] == ["New conversation"]


def test_the_strongest_mark_wins() -> None:
    question = Question("q", "a", "c", Act("shell", "execute", "Run it", "ls"), 0)
    statuses = {
        "a": TabStatus("a", phase="running", questions=(question,)),
        "b": TabStatus("b", phase="running"),
        "c": TabStatus("c", last_outcome="failed"),
    }
    found = rows(
        view(tab("a"), tab("b"), tab("c"), tab("d")), statuses=statuses, unseen=frozenset("abcd")
    )
    marks = {row.tab_id: row.mark for row in found if isinstance(row, ConversationRow)}
    assert marks == {"a": "needs-you", "b": "running", "c": "failed", "d": "unseen"}
