"""Plugins in the program: the one that came with it, one that is installed, and their ends."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QToolButton,
)

from desktop.feed import checks, outside
from desktop.ui.transcript.view import TranscriptView
from tests.e2e.nacre import KEY, Home, ended
from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter
from tests.ui.program import SECONDS, Person

pytestmark = pytest.mark.timeout(300)

HISTORY = "rightPane.plugin.prompt-history"
LONG = "\n\n".join(f"Layer {n} is laid down." for n in range(40))
# Shows how many conversations there are, and writes down that it ran.
COUNTER = """
import json, os, sys
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
open(os.path.join(os.environ["NACRE_PLUGIN_DATA"], "ran"), "w").close()
for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        rows = message["result"].get("sessions", [])
        row = {"id": "n", "sort": 1, "title": f"{len(rows)} conversations"}
        if rows:
            say(id="p", method="panel.update", params={"view": view, "rows": [row]})
        continue
    if message["method"] == "host.initialize":
        say(id=message["id"], result={"protocolVersion": 2})
    elif "id" in message:
        say(id=message["id"], result={})
    if message["method"] == "panel.show" and message["params"]["sessionId"]:
        view = message["params"]["view"]
        say(id="l", method="session.list", params={})
"""


def told(person: Person) -> list[str]:
    """What a screen reader is told of the rows."""
    lists = person.parts(QListView, "pluginList")
    model = lists[0].model() if lists else None
    role = Qt.ItemDataRole.AccessibleTextRole
    return [str(model.index(at, 0).data(role)) for at in range(model.rowCount())] if model else []


def running() -> list[psutil.Process]:
    """The processes of plugins."""
    found: list[psutil.Process] = []
    for one in psutil.Process().children(recursive=True):
        try:
            found += [one] if "main.py" in one.cmdline() else []
        except psutil.NoSuchProcess:
            continue
    return found


def transcript(person: Person) -> TranscriptView:
    view = person.part(QListView, "transcript")
    assert isinstance(view, TranscriptView)
    return view


def open_page(person: Person, name: str) -> None:
    """Its button, for which a window of the usual size has room."""
    person.now(lambda: person.window.resize(1180, 780))
    person.wait(lambda: person.parts(QToolButton, name))
    person.click(name)


def choose(person: Person, at: int) -> None:
    """Enter on a row of the plugin's page."""
    rows = person.part(QListView, "pluginList")
    rows.setCurrentIndex(rows.model().index(at, 0))
    person.press(Qt.Key.Key_Return, rows)


def test_every_prompt_is_in_the_history_and_the_plugin_ends_with_the_program(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply(LONG), reply("Done.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        person.begin("Lay down layers")
        person.wait(lambda: person.reads("Layer 39") and person.idle())
        person.keys("Ctrl+J")
        person.wait(lambda: person.parts(QToolButton, HISTORY))
        assert not running()
        person.click(HISTORY)
        person.wait(lambda: len(told(person)) == 1)
        person.say("And now?")
        person.wait(lambda: person.reads("Done.") and person.idle())
        person.wait(lambda: "And now?" in "".join(told(person)[:1]))
        person.wait(lambda: all(" s" in row for row in told(person)))
        assert running()
        choose(person, 1)
        person.wait(lambda: transcript(person).read_seq < 4)
        assert person.leave() == 0
        assert not running()


def test_the_history_of_the_workspace_leads_into_a_conversation_that_is_closed_and_not_loaded(
    home: Home, enter: Enter
) -> None:
    with MessagesServer([reply(LONG)] * 6) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        first = person.begin("Shells of the sea")
        person.wait(lambda: person.reads("Layer 39") and person.idle())
        for number in range(3):
            person.say(f"More of it {number}")
            person.wait(lambda: person.reads("Layer 39") and person.idle())
        person.keys("Ctrl+W")
        person.open_folder(home.workspace)
        second = person.begin("Pearls")
        person.wait(lambda: person.reads("Layer 39") and person.idle())
        assert person.tab_ids() == [second]
        person.keys("Ctrl+J")
        open_page(person, HISTORY)
        person.wait(lambda: [row.partition(".")[0] for row in told(person)] == ["Pearls"])
        person.choose("pluginChoice", "workspace")
        person.wait(lambda: len(told(person)) == 5)
        assert person.part(QComboBox, "pluginChoice").currentText() == "This workspace"
        person.type_into("pluginFilter", "more of it 0")
        person.wait(lambda: len(told(person)) == 1)
        choose(person, 0)
        person.wait(lambda: set(person.tab_ids()) == {first, second})
        person.wait(lambda: person.transcript()[:1] == ["You: More of it 0"])
        # What was looked for stays, so that one can go on to the next.
        assert person.part(QLineEdit, "pluginFilter").text() == "more of it 0"
        person.wait(lambda: len(told(person)) == 1)
        assert person.leave() == 0


def a_plugin(place: Path) -> Path:
    place.mkdir()
    capabilities = json.dumps(["api_read:messages"])
    (place / "plugin.toml").write_text(
        'id = "counter"\nname = "Counter"\nversion = "1"\nminimum_host = "0"\n'
        f'command = ["{{python}}", "main.py"]\ncapabilities = {capabilities}\n'
    )
    (place / "main.py").write_text(COUNTER)
    return place


def choose_folder(person: Person, folder: Path) -> None:
    def dialogs() -> list[QFileDialog]:
        return [one for one in person.window.findChildren(QFileDialog) if one.isVisible()]

    person.wait(dialogs)
    (dialog,) = dialogs()
    name = dialog.findChild(QLineEdit, "fileNameEdit")
    assert name is not None
    name.setText(str(folder))
    person.press(Qt.Key.Key_Return, name)


def phases(person: Person) -> list[str]:
    return [one.accessibleName() for one in person.parts(QLabel, "pluginPhase")]


def test_a_plugin_is_installed_shown_turned_off_and_uninstalled(
    home: Home, enter: Enter, tmp_path: Path
) -> None:
    """Nothing of it runs before the person agreed; its page comes and goes with it."""
    source = a_plugin(tmp_path / "counter")
    data = home.data / "plugins" / "counter"
    with MessagesServer([reply("One.")]) as server:
        person = enter(server)
        person.begin("hello")
        person.wait(lambda: person.reads("One.") and person.idle())
        person.keys("Ctrl+J")
        person.wait(lambda: person.parts(QToolButton, HISTORY))
        person.do("settings")
        person.choose_section("Plugins")
        person.wait(lambda: phases(person) == [WAITS])
        person.click("installPlugin")
        choose_folder(person, source)
        person.wait(lambda: person.shows("pluginOffer"))
        command = person.part(QPlainTextEdit, "offerCommand").toPlainText()
        assert "main.py" in command
        assert str(home.data / "installed-plugins" / "counter" / "1") in command
        assert not data.exists()
        person.click("offerAgree")
        person.wait(lambda: phases(person) == [WAITS, WAITS])
        person.close_dialog("settingsDialog")
        open_page(person, "rightPane.plugin.counter")
        person.wait(lambda: told(person) == ["1 conversations"])
        assert (data / "ran").exists()
        person.do("settings")
        person.choose_section("Plugins")
        person.wait(lambda: phases(person) == [WAITS, "Running"])
        person.click("pluginTakeBack")
        person.wait(lambda: phases(person)[1] == "Turned off, and it may nothing")
        person.wait(lambda: not person.parts(QToolButton, "rightPane.plugin.counter"))
        assert not running()
        person.click("pluginUninstall")
        person.answer_box("Uninstall and delete its data")
        person.wait(lambda: phases(person) == [WAITS])
        person.wait(lambda: not data.exists())
        person.close_dialog("settingsDialog")
        assert person.leave() == 0


WAITS = "On; it starts when its page in the right pane is opened"


def test_what_another_process_says_is_in_the_history_at_once(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real `nacre run`, and one row of plain SQL; no check finds anything in that time."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for module in (outside, checks):
        monkeypatch.setattr(module, "CHECK_SECONDS", 10 * SECONDS)
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        person = enter(server)
        tab_id = person.begin("hello")
        person.wait(lambda: person.reads("One.") and person.idle())
        person.keys("Ctrl+J")
        open_page(person, HISTORY)
        person.wait(lambda: len(told(person)) == 1)
        there = replace(home, base_url=server.base_url)
        assert ended(there.start("run", "--tab", tab_id, "from elsewhere")).code == 0
        person.wait(lambda: "from elsewhere" in "".join(told(person)[:1]))
        with closing(sqlite3.connect(home.database)) as plain, plain:
            plain.execute(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " SELECT 'p', tab_id, max(seq) + 1, 't', 'user', 'text',"
                ' \'{"text": "by hand"}\', 1 FROM chunks WHERE tab_id = ?',
                (tab_id,),
            )
        person.wait(lambda: "by hand" in "".join(told(person)))
        assert person.leave() == 0
