"""Puts completion and commands into a message field: that of a conversation, or of the page where
one begins."""

from collections.abc import Sequence
from pathlib import Path

from desktop.ui.completion.commanding import Commanding
from desktop.ui.completion.commands import OF_A_CONVERSATION, OF_THE_NEW_PAGE
from desktop.ui.completion.completing import Completing
from desktop.ui.composer import Composer
from desktop.ui.doors import Doors
from desktop.ui.find_bar import FindBar
from desktop.ui.new_page import NewPage
from desktop.ui.tasks import Tasks


def for_conversation(
    tab_id: str, composer: Composer, find_bar: FindBar, *, doors: Doors, tasks: Tasks
) -> Commanding:
    """Files of the conversation's folder, and the commands that act on it."""

    def find(text: str) -> None:
        find_bar.field.setText(text)
        find_bar.begin()

    async def names() -> Sequence[str]:
        tab = await doors.catalogue.tab(tab_id)
        return await _names(doors, tab.workspace_id)

    given = {
        "compact": lambda text: tasks.start(doors.commands.compact(tab_id, text), "compact"),
        "rename": lambda title: tasks.start(doors.catalogue.rename_tab(tab_id, title), "rename"),
        "find": find,
    }
    commanding = Commanding(composer, OF_A_CONVERSATION, given)
    Completing(composer, tasks=tasks, names=names, commanding=commanding)
    return commanding


def for_new_page(page: NewPage, *, doors: Doors, tasks: Tasks) -> Commanding:
    """Files of the folder that is chosen there, and the few commands that make sense yet."""

    async def names() -> Sequence[str]:
        chosen = page.workspace_id
        return await _names(doors, chosen) if chosen else ()

    commanding = Commanding(page.composer, OF_THE_NEW_PAGE)
    completing = Completing(page.composer, tasks=tasks, names=names, commanding=commanding)
    page.workspace_chosen.connect(completing.forget)
    return commanding


async def _names(doors: Doors, workspace_id: int) -> Sequence[str]:
    workspace = await doors.catalogue.workspace(workspace_id)
    return await doors.file_names(Path(workspace.directory))
