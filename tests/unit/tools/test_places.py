"""Where a path really leads (FIELD F-T06) and how a name is shown and found again (F-W05)."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.errors import ToolFailed
from desktop.core.permissions import Act
from desktop.core.tools import Scene, Tool
from desktop.tools.builtin.edit_file import EditFile
from desktop.tools.builtin.glob import Glob
from desktop.tools.builtin.grep import Grep
from desktop.tools.builtin.list_dir import ListDir
from desktop.tools.builtin.read_file import ReadFile
from desktop.tools.builtin.write_file import WriteFile
from desktop.tools.places import find, show, unshow
from tests.unit.tools.conftest import Run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and names of POSIX")


@pytest.fixture
def links(workspace: Path, tmp_path: Path) -> Path:
    """A workspace with links of every kind that lead out of it; gives the folder outside."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "victim").write_text("secret")
    (workspace / "sub").mkdir()
    (workspace / "own.md").write_text("own")
    (workspace / "outbox").symlink_to(out)
    (workspace / "notes.md").symlink_to(out / "victim")
    (workspace / "draft").symlink_to(out / "not-yet")
    (workspace / "loop").symlink_to("loop")
    (workspace / "b").symlink_to(out / "c")
    (workspace / "a").symlink_to("b")
    (workspace / "inner").symlink_to("sub")
    (workspace / "alias.md").symlink_to("own.md")
    os.link(out / "victim", workspace / "hard")
    return out


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("outbox/new", "out/new"),
        ("notes.md", "out/victim"),
        ("draft", "out/not-yet"),
        ("a", "out/c"),
        ("sub/../../x", "x"),
        ("inner/../../x", "x"),
        ("../work/../out/victim", "out/victim"),
        ("missing/../../x", "x"),
    ],
)
def test_a_place_outside_is_named_and_asks(
    prepared: Callable[..., Act], links: Path, tmp_path: Path, path: str, real: str
) -> None:
    act = prepared(WriteFile(), path=path, content="x")
    assert act.outside
    assert act.where == str(tmp_path / real)
    assert str(tmp_path / real) in act.sentence
    assert act.writes == (act.where,)
    assert (act.coverable_by, act.offer) == ((), "")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (ReadFile(), {}),
        (EditFile(), {"old": "secret", "new": "x"}),
        (ListDir(), {}),
        (Glob(), {"pattern": "*"}),
        (Grep(), {"pattern": "x"}),
    ],
)
def test_every_file_tool_judges_the_real_place(
    prepared: Callable[..., Act], links: Path, tool: Tool, arguments: dict[str, Any]
) -> None:
    for path in ("notes.md", f"/proc/self/root{links}/victim"):
        act = prepared(tool, path=path, **arguments)
        assert (act.outside, act.where) == (True, str(links / "victim"))


def test_a_circle_of_links_is_an_error(prepared: Callable[..., Act], links: Path) -> None:
    for tool, more in ((ReadFile(), {}), (WriteFile(), {"content": "x"}), (ListDir(), {})):
        with pytest.raises(ToolFailed, match="leads back to itself"):
            prepared(tool, path="loop", **more)


def test_links_that_stay_inside_work(use: Run, links: Path, workspace: Path) -> None:
    use(WriteFile(), path="inner/new", content="x")
    use(WriteFile(), path="alias.md", content="changed")
    assert (workspace / "sub/new").read_text() == "x"
    assert (workspace / "alias.md").is_symlink()
    assert (workspace / "own.md").read_text() == "changed"


def test_a_workspace_that_is_a_link_itself_is_inside(
    scene: Scene, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(workspace)
    (workspace / "f").write_text("x")
    linked = replace(scene, workspace=tmp_path / "link")
    for path in ("f", str(tmp_path / "link/f"), str(workspace / "f")):
        place = find(path, linked)
        assert (place.inside, place.real, place.label) == (True, workspace / "f", "f")


def test_a_neighbour_with_the_same_start_of_its_name_is_outside(scene: Scene) -> None:
    assert not find(f"{scene.workspace}-evil/f", scene).inside


def test_writing_to_a_hard_link_leaves_the_other_name_alone(
    prepared: Callable[..., Act], scene: Scene, links: Path
) -> None:
    act = prepared(WriteFile(), path="hard", content="changed")
    assert "hard links" in act.sentence
    asyncio.run(WriteFile().run(act, scene, lambda _: None))
    assert (links / "victim").read_text() == "secret"


@pytest.mark.parametrize("target", ["victim", "new"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (WriteFile(), {"content": "x"}),
        (EditFile(), {"old": "own", "new": "x"}),
        (ReadFile(), {}),
        (Grep(), {"pattern": "secret"}),
    ],
)
def test_a_link_that_was_swapped_in_after_the_question_is_noticed(
    prepared: Callable[..., Act],
    scene: Scene,
    links: Path,
    workspace: Path,
    target: str,
    tool: Tool,
    arguments: dict[str, Any],
) -> None:
    act = prepared(tool, path="own.md", **arguments)
    (workspace / "own.md").unlink()
    (workspace / "own.md").symlink_to(links / target)
    with pytest.raises(ToolFailed, match="leads elsewhere"):
        asyncio.run(tool.run(act, scene, lambda _: None))
    assert (links / "victim").read_text() == "secret"
    assert not (links / "new").exists()


def test_a_folder_that_was_swapped_for_a_link_is_noticed(
    prepared: Callable[..., Act], scene: Scene, links: Path, workspace: Path
) -> None:
    act = prepared(WriteFile(), path="sub/new", content="x")
    (workspace / "sub").rmdir()
    (workspace / "sub").symlink_to(links)
    with pytest.raises(ToolFailed, match="leads elsewhere"):
        asyncio.run(WriteFile().run(act, scene, lambda _: None))
    assert not (links / "new").exists()


def test_reading_inside_never_follows_links_that_lead_out(use: Run, links: Path) -> None:
    assert use(Grep(), pattern="secret").text == "hard:1: secret"
    assert "victim" not in use(Glob(), pattern="*").text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain.txt", "plain.txt"),
        ("Grüße 😀.txt", "Grüße 😀.txt"),
        ("caf\udce9.txt", "caf\\xe9.txt"),
        ("a\nb", "a\\x0ab"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u00a0b", "a\\u00a0b"),
        ("back\\slash", "back\\slash"),
        ("looks\\xe9", "looks\\x5cxe9"),
    ],
)
def test_names_are_shown_without_anything_invisible(name: str, shown: str) -> None:
    assert show(name) == shown
    assert unshow(shown) == name


@given(st.text(alphabet=st.characters(exclude_characters="\0/"), max_size=20))
def test_a_shown_name_leads_back_to_the_name(name: str) -> None:
    shown = show(name)
    assert shown.isprintable()
    assert unshow(shown) == name


@pytest.mark.parametrize("raw", [b"caf\xe9.txt", b"looks\\xe9", b"new\nline", "\u202ertl".encode()])
def test_the_shown_name_opens_the_right_file(use: Run, workspace: Path, raw: bytes) -> None:
    """F-W05: a name that is no UTF-8 goes to the model and comes back."""
    (workspace / os.fsdecode(raw)).write_text("content")
    for listed in (use(ListDir()).text.split("  ")[0], use(Glob(), pattern="*").text):
        listed.encode("utf-8")
        assert use(ReadFile(), path=listed).text == "     1\tcontent"
        assert use(Grep(), pattern="content", path=listed).text == f"{listed}:1: content"
    use(EditFile(), path=listed, old="content", new="changed")
    assert (workspace / os.fsdecode(raw)).read_text() == "changed"
