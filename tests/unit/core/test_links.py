"""Links come from anywhere: one exact form is understood, and nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.errors import NacreError
from desktop.core.links import Link, parse_place, spelled

TAB = "0b6f1f0e-6f0b-5c0e-9a51-3c1f0e2b7a94"
PLACES = [Link(TAB), Link(TAB, 0), Link(TAB, 17), Path("/home/anna/a folder"), Path("/")]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_f7_a_place_is_read_as_it_was_written(place: Link | Path) -> None:
    assert parse_place(spelled(place)) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nacre:",
        "nacre://tab/",
        "nacre://tab/1",
        f"nacre://tab/{TAB}/",
        f"nacre://tab/{TAB.upper()}",
        f"nacre://tab/{TAB}?seq=",
        f"nacre://tab/{TAB}?seq=-1",
        f"nacre://tab/{TAB}?seq=1e3",
        f"nacre://tab/{TAB}?seq=٣",
        f"nacre://tab/{TAB}?seq=" + "9" * 400,
        f"nacre://tab/{TAB}?seq=1&run=rm",
        f"nacre://tab/{TAB}?seq=1\n",
        f"nacre://tab/{TAB}#x",
        f"nacre://tab/../{TAB}",
        f"NACRE://tab/{TAB}",
        "folder",
        "../folder",
        "/fol\0der",
    ],
)
def test_f7_what_is_no_exact_link_and_no_full_path_is_refused(text: str) -> None:
    with pytest.raises(NacreError):
        parse_place(text)


@given(st.text(max_size=80))
def test_f7_no_text_is_read_as_something_that_it_does_not_spell(text: str) -> None:
    try:
        place = parse_place("nacre:" + text)
    except NacreError:
        return
    assert spelled(place) == "nacre:" + text
