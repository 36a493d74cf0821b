"""Output of commands: plain text, constant memory, marked middle (FIELD F-R11, F-T09, F-W05)."""

import shutil
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.tools.output import Drain, cut_middle, plain, readable


@pytest.mark.parametrize(
    ("printed", "seen"),
    [
        (b"\x1b[2m\x1b[48;2;1;2;3mred\x1b[0m", "red"),
        (b"\x1b[31mnever reset", "never reset"),
        (b"10%\r50%\r100%\n", "100%\n"),
        (b"long line\rnew", "newg line"),
        (b"long line\r\x1b[Knew", "new"),
        (b"\x1b[2K\rnew", "new"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"abc\b\bX", "aXc"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]52;c;c2VjcmV0\x07text", "text"),
        (b"\x1b]52;c;c2VjcmV0\x1b\\text", "text"),
        (b"\x1b]8;;https://a.example/\x1b\\here\x1b]8;;\x1b\\.", "here (https://a.example/)."),
        (b"\x1b]8;;u\x07u\x1b]8;;\x07", "u"),
        (b"text\x1b[3", "text"),
        (b"text\x1b", "text"),
        (b"text\x1b]0;tit", "text"),
        (b"\x9b31mred", "red"),
        ("\x9b31mred".encode(), "red"),
        (
            b"\x1b[?1049h\x1b[2J\x1b[1;1Hvi\x1b[?1049lafter",
            "\n[full-screen output left out]\nafter",
        ),
        (b"\x1b(Bx\x1b=y\x1bcz", "xyz"),
        (b"a\0b", "a␀b"),
        (b"\x07" * 500 + b"x", "x"),
        (b"\b" * 500 + b"x", "x"),
        (b"a\xff\xfeb", "a\ufffd\ufffdb"),
        ("Ä€😀".encode(), "Ä€😀"),
        (b"col1\x1b[5;10Hcol2", "col1\ncol2"),
        (b"tab\there", "tab\there"),
    ],
)
def test_nothing_of_a_sequence_is_left(printed: bytes, seen: str) -> None:
    assert plain(printed) == seen


def test_two_thousand_updates_of_a_progress_bar_are_one_line() -> None:
    printed = b"".join(b"\r%4d/2000 \x1b[32m###\x1b[0m" % number for number in range(2001))
    assert plain(printed + b"\n") == "2000/2000 ###\n"


@given(st.binary(max_size=300))
def test_any_bytes_become_text_that_can_be_sent(printed: bytes) -> None:
    seen = plain(printed)
    seen.encode("utf-8")
    assert not {"\x1b", "\r", "\b", "\0", "\x07", "\x9b"} & set(seen)


def fed(
    tmp_path: Path, printed: bytes, step: int, *, cap: int = 100, spool_cap: int = 10_000
) -> Drain:
    drain = Drain(tmp_path / f"{step}.out", cap=cap, spool_cap=spool_cap)
    for start in range(0, len(printed), step):
        drain.feed(printed[start : start + step])
    return drain


def test_it_makes_no_difference_where_the_reads_cut(tmp_path: Path) -> None:
    printed = ("\x1b[31mröd\x1b[0m 😀\r\n" * 200).encode()
    texts = {fed(tmp_path, printed, step).close(limit=100).text for step in (1, 2, 3, 7, 64, 9999)}
    assert len(texts) == 1
    assert "[31m" not in texts.pop()


def test_short_output_needs_no_file(tmp_path: Path) -> None:
    kept = fed(tmp_path, b"x" * 100, 10).close(limit=100)
    assert (kept.text, kept.size, kept.full) == ("x" * 100, 100, None)
    assert list(tmp_path.iterdir()) == []


def test_long_output_is_kept_whole_in_the_file(tmp_path: Path) -> None:
    printed = b"".join(b"line %d\n" % number for number in range(500))
    kept = fed(tmp_path, printed, 33).close(limit=100)
    assert kept.full is not None
    assert kept.full.read_bytes() == printed
    assert kept.text.startswith("line 0\n")
    assert kept.text.endswith("line 499\n")
    first, mark, last = kept.text.partition("[… ")
    shown = first.count("\n") + last.partition("]\n")[2].count("\n")
    assert f"{500 - shown:,} lines" in mark + last


def test_the_file_stops_at_its_cap_and_the_count_goes_on(tmp_path: Path) -> None:
    drain = fed(tmp_path, b"y\n" * 20_000, 1000)
    kept = drain.close(limit=100)
    assert kept.full is not None
    assert kept.full.stat().st_size == 10_000
    assert kept.size == 40_000
    assert "10.0 KB only" in drain.spool_note


def test_u08_a_disk_short_of_room_gets_no_new_spool_and_says_so(tmp_path: Path) -> None:
    everything = shutil.disk_usage(tmp_path).total
    drain = Drain(tmp_path / "spool" / "x", cap=100, spool_cap=10_000, least_free=everything)
    drain.feed(b"begin\n" + b"middle\n" * 4_000 + b"end\n")
    kept = drain.close(limit=100)
    assert kept.full is None
    assert list((tmp_path / "spool").iterdir()) == []
    assert kept.text.startswith("begin\n")
    assert kept.text.endswith("end\n")
    assert "are free on the disk, so the middle of the output was not kept" in drain.spool_note


def test_u08_a_spool_never_takes_the_room_that_is_to_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    drain = Drain(tmp_path / "x", cap=100, spool_cap=10_000, least_free=usage.free - 3_000)
    drain.feed(b"y\n" * 4_000)
    kept = drain.close(limit=100)
    assert kept.full is not None
    assert kept.full.stat().st_size == 3_000
    assert "3.0 KB only" in drain.spool_note


def test_memory_stays_constant(tmp_path: Path) -> None:
    drain = Drain(tmp_path / "x", cap=65_536, spool_cap=1_000_000)
    chunk = b"y\n" * 32_768
    tracemalloc.start()
    try:
        for _ in range(1000):
            drain.feed(chunk)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    drain.discard()
    assert peak < 2_000_000


@pytest.mark.parametrize("limit", [1000, 1001, 1002, 1003])
def test_a_cut_never_halves_a_character_or_a_joined_emoji(limit: int) -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    cut = cut_middle(family * 400, limit)
    cut.encode("utf-8")
    first, _, rest = cut.partition("\n[…")
    assert first == family * (len(first) // len(family))
    last = rest.partition("]\n")[2]
    assert last == family * (len(last) // len(family))


def test_forty_thousand_emoji_are_cut_by_code_point() -> None:
    cut = cut_middle("😀" * 40_000, 65_536)
    assert len(cut.encode("utf-8")) < 65_600
    assert "[… 94.5 KB left out …]" in cut


def test_sizes_read_as_a_person_says_them() -> None:
    assert [readable(size) for size in (0, 1, 999, 3_100_000, 5_000_000_000)] == [
        "0 bytes",
        "1 byte",
        "999 bytes",
        "3.1 MB",
        "5.0 GB",
    ]
