"""When the server is asked for its models: the provider's library is loaded for that (SPEC U10)."""

import pytest
from PySide6.QtWidgets import QComboBox

from tests.fakes.messages_api import MessagesServer, reply
from tests.ui.conftest import Enter

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
