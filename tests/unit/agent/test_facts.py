"""What the model is told of its surroundings: at first everything, later what is new."""

import asyncio
from datetime import date
from pathlib import Path

from desktop.agent import facts
from desktop.agent.facts import Facts
from desktop.core.chunks import System
from tests.unit.core.rows import log, row

NOW = Facts("2026-11-29", "TestOS 1", "/work", is_git=False)


def test_the_first_fact_tells_everything() -> None:
    told = facts.opening(NOW, "read-only")
    for words in ("2026-11-29", "TestOS 1", "/work", "not in a git", "read-only"):
        assert words in told.text
    assert told.kind == "fact"


def test_nothing_new_is_no_fact() -> None:
    rows = log(("system", facts.opening(NOW, "ask")))
    assert facts.news(rows, NOW, "ask") is None


def test_only_what_changed_is_told_and_only_once() -> None:
    rows = log(("system", facts.opening(NOW, "ask")))
    news = facts.news(rows, NOW, "auto")
    assert news is not None
    assert "auto" in news.text
    assert "2026" not in news.text
    assert facts.news([*rows, row(2, "system", news)], NOW, "auto") is None


def test_a_fact_without_fields_tells_nothing() -> None:
    news = facts.news(log(("system", System("fact", "Something."))), NOW, "ask")
    assert news is not None
    assert news.fields == {"today": "2026-11-29", "mode": "ask"}


def test_a_folder_inside_a_repository_is_seen_as_one(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    found = asyncio.run(facts.observe(inside, today=date(2026, 11, 29)))
    assert (found.today, found.folder, found.is_git) == ("2026-11-29", str(inside), True)
