"""The sidebar's rows are a function of metadata and statuses (LOOK.md "The window")."""

from desktop.core.permissions import Act, Question
from desktop.core.records import CatalogueView, Project, Tab, Workspace
from desktop.core.status import TabStatus
from desktop.ui.sidebar_rows import (
    DAY_MS,
    BranchesRow,
    ConversationRow,
    FolderRow,
    Look,
    Phrases,
    SidebarRow,
    SpanRow,
    sidebar_rows,
)

NOW = 100 * DAY_MS


def tab(
    id_: str,
    *,
    workspace: int = 1,
    moment: int = NOW,
    title: str = "",
    archived_at: int | None = None,
    forked_from: str | None = None,
    parent: str | None = None,
) -> Tab:
    return Tab(
        id_,
        workspace,
        title,
        0,
        True,
        created_at=moment,
        last_message_at=moment,
        archived_at=archived_at,
        forked_from=forked_from,
        forked_at_seq=None if forked_from is None else 4,
        parent_tab_id=parent,
    )


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
    unfolded: frozenset[str] = frozenset(),
    current: str = "",
) -> tuple[SidebarRow, ...]:
    return tuple(
        sidebar_rows(
            found,
            Look(words, folded, unfolded, current),
            Phrases(
                spans=lambda: ((NOW, "Today"), (0, "Older")),
                branches=lambda count: f"{count} other branches",
                subagents=lambda count: f"{count} subagents",
                untitled="New conversation",
            ),
            statuses=statuses or {},
            unseen=unseen,
        )
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


def family(count: int) -> list[Tab]:
    """A conversation and its forks, each a fork of the one before; the last is the newest."""
    return [
        tab(f"f{n}", moment=NOW + n, title="Fix it", forked_from=f"f{n - 1}" if n else None)
        for n in range(count)
    ]


def test_u19_fifty_branches_of_one_conversation_are_two_rows_until_they_are_unfolded() -> None:
    found = view(*family(50), tab("x", moment=NOW + 10, title="Other"))
    folded = [row for row in rows(found) if row.key not in ("w1", "w2")]
    assert [row.key for row in folded] == ["f49", "bf0", "x"]
    assert isinstance(folded[1], BranchesRow)
    assert folded[1].title == "49 other branches"
    unfolded = rows(found, unfolded=frozenset({"f0"}))
    inner = [row for row in unfolded if isinstance(row, ConversationRow) and row.inner]
    assert [row.tab_id for row in inner] == [f"f{n}" for n in range(48, -1, -1)]


def test_a_folded_branch_that_is_in_view_works_or_asks_is_shown_all_the_same() -> None:
    statuses = {"f1": TabStatus("f1", phase="running")}
    found = rows(view(*family(5)), statuses=statuses, current="f2", unseen=frozenset({"f0"}))
    assert [row.key for row in found if row.key != "w2"] == ["w1", "f4", "bf0", "f2", "f1"]


def test_a_branch_says_of_what_and_keeps_its_family_when_that_is_gone() -> None:
    parent = tab("p", title="Parent", moment=0)
    forks = [tab("a", forked_from="p", title="A"), tab("b", forked_from="p", moment=NOW - 1)]
    found = [row for row in rows(view(parent, *forks)) if isinstance(row, ConversationRow)]
    assert [(row.tab_id, row.branch_of) for row in found] == [("a", "Parent")]
    alone = rows(view(*forks))
    assert [row.key for row in alone if row.key != "w2"] == ["w1", "a", "bp"]


def test_p06_archived_conversations_are_out_of_the_list_and_in_the_search_marked() -> None:
    found = view(tab("a", title="Tests"), tab("b", title="More tests", archived_at=NOW))
    assert [row.key for row in rows(found)] == ["w1", "a", "w2"]
    hits = [row for row in rows(found, words="tests") if isinstance(row, ConversationRow)]
    assert [(row.tab_id, row.archived) for row in hits] == [("a", False), ("b", True)]


def test_p06_an_archived_folder_comes_with_its_conversations_when_they_are_searched() -> None:
    found = CatalogueView(
        projects=(Project(1, "/w/one", "one", "git", archived_at=NOW),),
        workspaces=(Workspace(1, 1, "/w/one", "one", archived_at=NOW),),
        tabs=(tab("a", title="Tests", archived_at=NOW),),
    )
    assert rows(found) == ()
    folder, hit = rows(found, words="tests")
    assert isinstance(folder, FolderRow)
    assert folder.archived
    assert hit.key == "a"


def test_a_folder_names_its_project_only_where_that_has_others() -> None:
    two = [row for row in rows(view()) if isinstance(row, FolderRow)]
    assert [row.project for row in two] == ["one", "one"]
    one = CatalogueView((Project(1, "/w", "one", "git"),), (Workspace(1, 1, "/w", "one"),))
    assert [row.project for row in rows(one) if isinstance(row, FolderRow)] == [""]


FAMILY = (
    tab("a", title="Mend it", moment=NOW + 1),
    tab("b", parent="a", moment=NOW + 1),
    tab("c", parent="b", moment=NOW + 2),
    tab("d", parent="a", moment=NOW + 3),
    tab("z"),
)


def test_u28_subagents_are_folded_below_the_one_that_began_them() -> None:
    found = rows(view(*FAMILY))
    assert [row.key for row in found] == ["w1", "a", "sa", "z", "w2"]
    assert found[2].title == "2 subagents"
    unfolded = rows(view(*FAMILY), unfolded=frozenset({"sa", "sb"}))
    assert [row.key for row in unfolded] == ["w1", "a", "sa", "b", "sb", "c", "d", "z", "w2"]
    levels = {row.key: row.level for row in unfolded if isinstance(row, ConversationRow)}
    assert levels == {"a": 0, "b": 1, "c": 2, "d": 1, "z": 0}
    assert {row.subagent_of for row in unfolded if row.key in ("b", "d")} == {"Mend it"}  # pyright: ignore[reportAttributeAccessIssue]


def test_u28_a_subagent_that_works_or_asks_is_shown_with_those_above_it() -> None:
    running = {"c": TabStatus("c", phase="running")}
    found = [row.key for row in rows(view(*FAMILY), statuses=running)]
    assert found == ["w1", "a", "sa", "b", "c", "z", "w2"]
    assert [row.key for row in rows(view(*FAMILY), current="d")][2:5] == ["sa", "d", "z"]


def test_u28_a_conversation_asks_when_one_of_its_subagents_does() -> None:
    found = rows(view(tab("a")), statuses={"a": TabStatus("a", phase="running", asking=("b",))})
    assert [row.mark for row in found if isinstance(row, ConversationRow)] == ["needs-you"]


def test_u28_a_subagent_is_found_by_its_own_words() -> None:
    assert [row.key for row in rows(view(*FAMILY), words="mend")] == ["w1", "a"]
    lone = view(tab("b", parent="gone"), tab("e", parent="x", archived_at=NOW))
    assert [row.key for row in rows(lone)] == ["w1", "b", "w2"]
