"""`nacre search` as a person or a script uses it: what a turn left is found by another process."""

import json
from dataclasses import replace

import pytest

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply, text


def test_u40_a_message_is_found_by_what_a_person_types(home: Home) -> None:
    """SPEC U40, FIELD F-I04."""
    script = [reply(text("You don't need it: look at src/main.py."))]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("where is the parser?").code == 0
    answer = next(row for row in home.rows() if row["role"] == "assistant")
    for typed in ("don't", "src/main.py", "src/mai", '"look at"', "ain.p"):
        found = home.nacre("search", "--json", typed)
        assert found.code == 0, found.err
        hits = [json.loads(line) for line in found.out.splitlines()]
        assert [(hit["tabId"], hit["seq"]) for hit in hits] == [(answer["tab_id"], answer["seq"])]
        assert hits[0]["directory"] == str(home.workspace.resolve())
        assert hits[0]["marks"]


@pytest.mark.in_this_process
def test_search_prints_for_a_person_and_says_when_there_is_nothing(home: Home) -> None:
    with MessagesServer([reply(text("A needle."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("find the needle").code == 0
    found = home.nacre("search", "needle", "--limit", "1")
    assert (found.code, found.err) == (0, "")
    assert "assistant text: A »needle«." in found.out
    nothing = home.nacre("search", "NEAR(")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "Nothing was found.\n")
    assert home.nacre("search", "needle", "--limit", "0").code == 2
