"""The shipped plugin in the program: its page, its rows, the way to a prompt and its end."""

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListView, QToolButton

from desktop.ui.transcript.view import TranscriptView
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)

LONG = "\n\n".join(f"Layer {n} is laid down." for n in range(40))


def prompts(person: Person) -> list[str]:
    """What a screen reader is told of the rows."""
    lists = person.parts(QListView, "pluginList")
    model = lists[0].model() if lists else None
    role = Qt.ItemDataRole.AccessibleTextRole
    return [str(model.index(at, 0).data(role)) for at in range(model.rowCount())] if model else []


def running() -> list[psutil.Process]:
    """The plugin's processes."""
    found: list[psutil.Process] = []
    for one in psutil.Process().children(recursive=True):
        try:
            found += [one] if "main.py" in one.cmdline() else []
        except psutil.NoSuchProcess:
            continue
    return found


def test_every_prompt_is_in_the_history_and_the_plugin_ends_with_the_program(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply(LONG), reply("Done.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Lay down layers")
        person.wait(lambda: person.reads("Layer 39") and person.idle())
        person.keys("Ctrl+J")
        person.wait(lambda: person.parts(QToolButton, "rightPane.plugin.prompt-history"))
        assert not running()
        person.click("rightPane.plugin.prompt-history")
        person.wait(lambda: len(prompts(person)) == 1)
        person.say("And now?")
        person.wait(lambda: person.reads("Done.") and person.idle())
        person.wait(lambda: "And now?" in "".join(prompts(person)[:1]))
        person.wait(lambda: all(" s" in row for row in prompts(person)))
        assert running()
        rows = person.part(QListView, "pluginList")
        rows.setCurrentIndex(rows.model().index(1, 0))
        person.press(Qt.Key.Key_Return, rows)
        view = person.part(QListView, "transcript")
        assert isinstance(view, TranscriptView)
        person.wait(lambda: view.read_seq < 4)
        assert person.leave() == 0
        assert not running()
