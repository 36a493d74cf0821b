"""Takes the pictures of the README from the real program, on a private X server.

    python -m tests.data.make_screenshots [FOLDER]

A conversation is played against the provider's stand-in with real files, real tools and a real
test run; the program then takes the picture itself (`--selftest-window`). Needs Xvfb.
"""

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from PIL import Image

from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, Reply, reply, text, thinking, tool_use

PICTURES = Path(__file__).parents[2] / "packaging" / "screenshots"
COLOURS = 128
SECONDS = 120

TIDES = '''\
"""High water at Port Lowry, from the harmonic constants of the station."""

from datetime import datetime, timedelta, timezone

UTC = timezone.utc
M2 = timedelta(hours=12, minutes=25, seconds=14)
FIRST = datetime(2026, 1, 1, 3, 42, tzinfo=UTC)


def high_waters(day: datetime) -> list[datetime]:
    """The high waters of a day, in local time."""
    start = day.replace(hour=0, minute=0)
    count = (start.astimezone(UTC) - FIRST) // M2 + 1
    found = [FIRST + M2 * (count + n) for n in range(3)]
    return [one.astimezone() for one in found if one.date() == day.date()]
'''
TESTS = """\
from datetime import datetime, timedelta, timezone

from tides import high_waters

SUMMER = timezone(timedelta(hours=1))


def test_a_summer_day_keeps_its_own_zone():
    found = high_waters(datetime(2026, 7, 1, tzinfo=SUMMER))
    assert {one.utcoffset() for one in found} == {timedelta(hours=1)}


def test_a_day_has_one_or_two_high_waters():
    for day in range(1, 31):
        assert len(high_waters(datetime(2026, 6, day, tzinfo=SUMMER))) in (1, 2)
"""
BEFORE = "    return [one.astimezone() for one in found if one.date() == day.date()]"
AFTER = """\
    local = [one.astimezone(day.tzinfo) for one in found]
    return [one for one in local if one.date() == day.date()]"""
ANSWER = """\
The times were not wrong, their **zone** was: `astimezone()` without an argument takes the zone of
the machine, and the date was compared before the change. On a laptop in London that looks right
all winter and is an hour off from the last Sunday in March.

`high_waters` now answers in the zone of the day that it is asked for:

| day | before | now |
|---|---|---|
| 15 January | 04:26, 16:51 | 04:26, 16:51 |
| 1 July | 07:14, 19:39 | **08:14, 20:39** |

Both tests pass. The station's constants are from 2019; shall I look whether there are newer ones?
"""
FOUND = """\
Two chapters still name the **old harbour**, and one of them means it:

| chapter | line | it says | change it? |
|---|---|---|---|
| 3, *Approaches* | 12 | “moor at the old harbour” | yes: closed since 2024 |
| 7, *A short history* | 3 | “the old harbour of 1811” | no: it is about 1811 |

For chapter 3 I propose:

> Moor at the **north quay**. Its light is green, and two fathoms are left at low water.

* The chart in chapter 4 shows the north quay already.
* The index has an entry *harbour, old*; it would point to chapter 7 alone.

Shall I change chapter 3 and the index?
"""
CHAPTERS = {
    "chapter-3.md": "# Approaches\n" + "\n" * 10 + "At night, moor at the old harbour.\n",
    "chapter-4.md": "# Charts\n\nThe north quay has a green light.\n",
    "chapter-7.md": "# A short history\n\nHe built the old harbour of 1811.\n",
}
OTHERS = (
    ("almanac", "Write the preface for the 2027 edition", "Here is a draft of the preface."),
    ("tide-tables", "Explain the M2 constituent to a beginner", "It is the Moon's share."),
)
SHOTS = (("light", "light", "In summer"), ("dark", "dark", "Which chapters"))


def tides() -> list[Reply]:
    return [
        reply(
            thinking("The times are an hour off in summer: I look for the zone first."),
            text("I look at how the times are made, and at what the tests say."),
            tool_use("read_file", {"path": "tides.py"}),
            tool_use("shell", {"command": "python3 -m pytest -q"}),
        ),
        reply(
            text("The zone of the day is lost in the last line. I mend that and run the tests."),
            tool_use("edit_file", {"path": "tides.py", "old": BEFORE, "new": AFTER}),
        ),
        reply(tool_use("shell", {"command": "python3 -m pytest -q"})),
        reply(text(ANSWER)),
    ]


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[0]) if arguments else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nacre-shots-") as root, screen() as display:
        around = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        played = Home(Path(root) / "played", extra=around, seconds=SECONDS)
        played.root.mkdir()
        play(played)
        for name, theme, title in SHOTS:
            # Each window is the first one on its data: it has no place of its own to come back to.
            home = replace(played, root=Path(root) / name)
            shutil.copytree(played.data, home.data)
            choose(home, theme, title)
            picture = home.root / "window.png"
            ended = home.nacre("--selftest-window", str(picture))
            if ended.code or not picture.exists():
                print(ended.err, file=sys.stderr)
                return 1
            keep(picture, folder / f"{name}.png")
    return 0


def play(home: Home) -> None:
    """The conversations of the pictures, and some beside them."""
    for name, question, answer in OTHERS:
        said(home, name, question, [reply(text(answer))])
    for file, words in CHAPTERS.items():
        (home.root / "almanac" / file).write_text(words)
    look = reply(text("I look through all chapters."), tool_use("grep", {"pattern": "old harbour"}))
    said(home, "almanac", "Which chapters still name the old harbour?", [look, reply(text(FOUND))])
    (home.root / "tide-tables" / "tides.py").write_text(TIDES)
    (home.root / "tide-tables" / "test_tides.py").write_text(TESTS)
    wish = "In summer the high waters are an hour off. Find out why and mend it."
    said(home, "tide-tables", wish, tides())


def said(home: Home, name: str, question: str, answers: Sequence[Reply]) -> None:
    folder = home.root / name
    folder.mkdir(exist_ok=True)
    with MessagesServer(answers) as server:
        there = replace(home, base_url=server.base_url)
        done = there.nacre("run", "--permission", "auto", "--workspace", str(folder), question)
        assert done.code == 0, done.err
        assert not server.rejected


def choose(home: Home, theme: str, title: str) -> None:
    """The look, and the conversation whose tab stands first: the window opens with it."""
    with closing(sqlite3.connect(home.database)) as plain, plain:
        plain.execute(
            "INSERT INTO settings VALUES('appearance.theme', ?)"
            " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            (theme,),
        )
        plain.execute("UPDATE tabs SET position = position + 1")
        plain.execute("UPDATE tabs SET position = 0 WHERE title LIKE ?", (f"{title}%",))


def keep(picture: Path, target: Path) -> None:
    """The picture in few colours, which its plain areas do not show."""
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(target, optimize=True)
    print(f"{target}: {target.stat().st_size} bytes")


@contextmanager
def screen() -> Generator[str]:
    program = shutil.which("Xvfb")
    assert program is not None, "Xvfb is not installed"
    command = [program, "-displayfd", "1", "-screen", "0", "1400x900x24", "-nolisten", "tcp"]
    command.append("-noreset")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        try:
            yield f":{int(server.stdout.readline())}"
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
