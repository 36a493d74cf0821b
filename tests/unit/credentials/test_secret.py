"""A secret can be used, and can't be seen by accident."""

import copy
import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from desktop.credentials.secret import Secret

TEXT = "sk-ant-Zq9xYw"


@dataclass(frozen=True, slots=True)
class Holder:
    secret: Secret


def test_it_gives_its_text_when_asked_by_name() -> None:
    assert Secret(TEXT).reveal() == TEXT
    assert len(Secret(TEXT)) == len(TEXT)
    assert not Secret("")


def test_nothing_that_prints_shows_it() -> None:
    secret = Secret(TEXT)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret!r}"]
    shown += [repr(Holder(secret)), repr([secret]), repr({"secret": secret})]
    assert "Zq9" not in "".join(shown)
    assert not hasattr(secret, "__dict__")


@pytest.mark.parametrize("carry", [pickle.dumps, copy.copy, copy.deepcopy, hash])
def test_it_is_not_carried_away(carry: Callable[[object], object]) -> None:
    with pytest.raises(TypeError) as caught:
        carry(Secret(TEXT))
    assert "Zq9" not in str(caught.value)


def test_it_is_compared_by_value() -> None:
    assert Secret(TEXT) == Secret(TEXT)
    assert Secret(TEXT) != Secret(TEXT + "x")
    assert Secret("\ud800") != Secret("é")
    assert Secret(TEXT) != TEXT


def test_a_traceback_with_local_values_does_not_show_it() -> None:
    def failing(secret: Secret) -> None:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x") as caught:
        failing(Secret(TEXT))
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "Zq9" not in "".join(list(shown.format())[1:])
