"""The lists of what was put away are a function of metadata (SPEC P05, P06, U13)."""

from desktop.core.records import CatalogueView, Project, Tab, Workspace
from desktop.ui.put_away_rows import AwayPhrases, archived_rows, bin_rows

PHRASES = AwayPhrases(
    "New conversation", lambda count: f"{count} inside", lambda folders, count: f"{folders}/{count}"
)


def tab(id_: str, *, workspace: int = 1, archived: int | None = None, trashed: int = 0) -> Tab:
    return Tab(
        id_,
        workspace,
        f"Title {id_}",
        0,
        False,
        created_at=int(archived or 0),
        archived_at=archived,
        trashed_at=trashed or None,
    )


def test_p06_what_is_archived_comes_last_gone_first_with_folders_above_their_conversations() -> (
    None
):
    view = CatalogueView(
        projects=(Project(1, "/p", "p", "git"), Project(2, "/q", "q", "git")),
        workspaces=(Workspace(1, 1, "/p", "p"), Workspace(2, 2, "/q", "q", archived_at=50)),
        tabs=(
            tab("alone", archived=10),
            tab("later", archived=90),
            tab("here"),
            tab("in1", workspace=2, archived=50),
            tab("in2", workspace=2, archived=20),
        ),
    )
    rows = archived_rows(view, PHRASES)
    assert [(row.kind, row.id, row.inner) for row in rows] == [
        ("tab", "later", False),
        ("workspace", "2", False),
        ("tab", "in1", True),
        ("tab", "in2", True),
        ("tab", "alone", False),
    ]
    assert rows[1].detail == "2 inside · /q"
    assert rows[0].detail == "p"


def test_p05_an_archived_project_of_several_folders_has_a_row_of_its_own() -> None:
    view = CatalogueView(
        projects=(Project(1, "/p", "p", "git", archived_at=5),),
        workspaces=(
            Workspace(1, 1, "/p/b", "b", archived_at=5),
            Workspace(2, 1, "/p/a", "a", archived_at=5),
        ),
        tabs=(tab("x", archived=5),),
    )
    rows = archived_rows(view, PHRASES)
    assert [(row.kind, row.id) for row in rows] == [
        ("project", "1"),
        ("workspace", "2"),
        ("workspace", "1"),
        ("tab", "x"),
    ]
    assert rows[0].detail == "2/1"


def test_u13_the_bin_says_where_a_conversation_was_and_since_when_it_is_there() -> None:
    view = CatalogueView(workspaces=(Workspace(1, 1, "/p", "p"),))
    (row,) = bin_rows([tab("t", trashed=77)], view, PHRASES)
    assert (row.key, row.title, row.detail, row.moment) == ("tab t", "Title t", "p", 77)
