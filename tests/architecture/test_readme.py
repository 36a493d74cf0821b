"""What the README says, held against the program: commands, places, sentences, pages, pictures."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image

from desktop.cli import COMMANDS, parser
from desktop.core.setting import Section
from desktop.paths import DataFolder
from desktop.settings import BACKUP_INTERVAL, KEEP_WARM, RELEASE_FEED
from tests.architecture.source import PACKAGE, ROOT, python_files

README = (ROOT / "README.md").read_text("utf-8")
TEXT = " ".join(README.split())
LARGEST_PICTURE = 150_000
# Pages of the settings that are drawn by themselves.
OWN_PAGES = {"Access", "Tool servers"}
# Made by whoever follows the page, or by the packages' own build.
MADE = {".venv/bin", "build/packages"}


def part(title: str) -> str:
    """The text under a heading."""
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def sources() -> str:
    files = [*python_files(PACKAGE), *python_files(ROOT / "packaging")]
    joined = "".join(file.read_text("utf-8") for file in files)
    # Sentences stand in pieces, one a line.
    return re.sub(r'"\s*\n\s*f?"', "", joined)


def options_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The options that `nacre WORDS --help` tells."""
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([*words, "--help"])
    assert ended.value.code == 0, words
    return set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def named_commands() -> Iterator[tuple[str, set[str]]]:
    for words in re.findall(r"`nacre ([^`]*)`", README):
        head = words.split()[0]
        yield (
            (head if head[0].islower() and "://" not in head else ""),
            set(re.findall(r"--[a-z-]+", words)),
        )


def test_every_command_of_the_readme_is_one_and_has_the_options_it_is_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted: dict[str, set[str]] = {}
    for name, options in named_commands():
        wanted.setdefault(name, set()).update(options)
    assert set(wanted) == {"", *COMMANDS}
    for name, options in wanted.items():
        known = options_of([name] if name else [], capsys)
        assert options <= known, name


def test_every_file_that_the_readme_names_is_there() -> None:
    names = set(re.findall(r"[`(\s]((?:packaging|desktop|tests|\.ci)/[\w./-]*\w)", README))
    missing = {name for name in names if not (ROOT / name).exists()} - MADE
    assert not missing
    assert len(names) > 6


def test_what_lies_in_the_data_folder_is_told_as_it_is() -> None:
    folder = DataFolder(Path("/x"))
    named = set(re.findall(r"`([\w.-]+)`", part("Where your data lies")))
    places = {
        found.name
        for name in dir(DataFolder)
        if isinstance(getattr(DataFolder, name), property)
        and (found := getattr(folder, name)).parent == folder.root
    }
    assert places <= named, "a place that the README does not tell"


@pytest.mark.parametrize("sentence", re.findall(r"^\| “(.+?)”", README, re.M))
def test_a_sentence_that_the_readme_helps_with_is_one_of_the_programs(sentence: str) -> None:
    assert sentence.rstrip(" .…") in sources()


def test_the_pages_and_menus_that_the_readme_names_are_there() -> None:
    pages = set(re.findall(r"Settings → ([A-Z]\w+(?: servers)?)", TEXT))
    assert pages <= {*get_args(Section), *OWN_PAGES}
    assert pages >= {"Access", "Updates", "Storage"}
    for entry in re.findall(r"Help → (\w+…?)", TEXT):
        assert f'"{entry}"' in sources()


def test_what_is_off_at_first_is_off() -> None:
    """The table of what leaves the machine says so."""
    assert (KEEP_WARM.default, RELEASE_FEED.default) == ("off", "")
    assert BACKUP_INTERVAL.default == "daily"


def test_the_pictures_are_small_and_said_in_words() -> None:
    pictures = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", README)
    assert len(pictures) == 2
    for words, name in pictures:
        file = ROOT / name
        assert len(words) > 20
        assert file.stat().st_size <= LARGEST_PICTURE
        with Image.open(file) as image:
            assert (image.format, image.width) == ("PNG", 1180)
