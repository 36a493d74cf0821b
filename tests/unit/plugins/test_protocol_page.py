"""The page that describes the protocol says what is so, and its example runs."""

import re
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE
from tests.unit.plugins.hosts import Stage, play, until
from tests.unit.store.builders import chunk

PAGE = (PACKAGE / "plugins" / "PROTOCOL.md").read_text("utf-8")

HOSTS = {"host.initialize", "host.ping", "panel.show"}  # called by Nacre

if sys.platform == "win32":
    pytest.skip("the stage listens to a Unix socket", allow_module_level=True)


def test_every_method_stands_on_the_page_and_no_other(tmp_path: Path) -> None:
    async def story(stage: Stage) -> None:
        told = re.findall(r"^\| `((?:session|panel|host)\.[a-z.]+)`", PAGE, re.MULTILINE)
        line = await stage.show()
        answered = [name for name in told if name not in HOSTS]
        assert len(answered) == 8
        for name in answered:
            answer = await line.call(name)
            code = answer.get("error", {}).get("data", {}).get("code")
            assert code != "unknown_method"

    play(tmp_path, story)


def test_the_example_is_a_plugin(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    main = tmp_path / "main.py"
    main.write_text(example, "utf-8")

    async def story(stage: Stage) -> None:
        await stage.write(chunk("a"), chunk("b"))
        stage.plugin.show(stage.tab)
        await until(lambda: [row.title for row in stage.plugin.rows()] == ["2 prompts"])

    play(tmp_path, story, main=main)
