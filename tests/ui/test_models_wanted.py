"""When the server is asked for its models: the provider's library is loaded for that (SPEC U10)."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QComboBox

from tests.fakes.messages_api import MessagesServer, reply
from tests.fakes.sim import models
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)


def asked(server: MessagesServer) -> int:
    return sum(one.path.startswith("/v1/models") for one in server.log)


def test_u10_a_start_does_not_ask_the_server_and_pointing_at_the_choice_asks_once(
    enter: Enter,
) -> None:
    with MessagesServer([reply("Yes.")]) as server:
        person = enter(server)
        choice = person.part(QComboBox, "modelChoice")
        person.wait(lambda: choice.count() > 1)
        assert not server.log
        for _ in range(2):
            person.point_at(choice)
        person.wait(lambda: asked(server) == 1)
        person.begin("Are you there?")
        person.wait(lambda: person.reads("Yes.") and person.idle())
        assert asked(server) == 1
        assert person.leave() == 0


def test_u10_the_first_message_asks_for_the_models_too(enter: Enter) -> None:
    with MessagesServer([reply("Yes.")]) as server:
        person = enter(server)
        person.begin("Are you there?")
        person.wait(lambda: person.reads("Yes.") and person.idle() and asked(server))
        assert person.leave() == 0


def own(choice: QComboBox) -> list[str]:
    return [choice.itemText(at) for at in range(choice.count()) if "arbour" in choice.itemText(at)]


@pytest.fixture
def listing(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    """A server that lists a model that nobody knows."""
    unknown = replace(models.MODELS[0], id="claude-harbour-7")
    monkeypatch.setattr(models, "MODELS", (unknown, *models.MODELS))
    with MessagesServer([]) as server:
        yield server


def with_keyboard(person: Person) -> QComboBox:
    choice = person.part(QComboBox, "modelChoice")
    person.wait(lambda: choice.count() > 1)
    return choice


def test_u37_with_tab_a_person_gets_the_models_of_the_server(
    enter: Enter, listing: MessagesServer
) -> None:
    person = enter(listing)
    choice = with_keyboard(person)
    person.now(lambda: choice.setFocus(Qt.FocusReason.TabFocusReason))
    person.wait(lambda: own(choice))
    assert asked(listing) == 1
    assert person.leave() == 0


def test_u37_opening_the_choice_asks_and_the_open_list_gets_what_comes(
    enter: Enter, listing: MessagesServer
) -> None:
    """Also where nothing but the opening told that it is wanted: a screen reader's press."""
    person = enter(listing)
    choice = with_keyboard(person)
    before = choice.currentData()
    person.now(choice.showPopup)
    view = choice.findChild(QAbstractItemView)
    assert view is not None
    person.wait(lambda: own(choice))
    assert view.isVisible()
    assert choice.currentData() == before
    assert view.currentIndex().data(Qt.ItemDataRole.UserRole) == before
    assert view.viewport().height() >= view.sizeHintForRow(0) * min(choice.count(), 10)
    person.now(choice.hidePopup)
    assert person.leave() == 0


def test_u37_typing_the_command_for_a_model_asks_too(enter: Enter, listing: MessagesServer) -> None:
    person = enter(listing)
    choice = with_keyboard(person)
    person.write("/model harb")
    person.wait(lambda: own(choice) and person.shows("completionList"))
    person.press(Qt.Key.Key_Return)
    person.wait(lambda: choice.currentData() == "claude-harbour-7")
    assert asked(listing) == 1
    assert person.leave() == 0
