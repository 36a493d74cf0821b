"""The window's cache: whole or not at all, and never trusted (SPEC U33, FIELD F-S05)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.ui.window_cache import WindowCache, read_cache, write_cache

WRITER = """
import sys
from pathlib import Path
from desktop.ui.window_cache import WindowCache, write_cache
for n in range(200):
    write_cache(Path(sys.argv[1]), WindowCache(geometry="A" * 4 * n, sidebar=int(sys.argv[2])))
"""


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    cache = WindowCache("AAAA", 300, True, "dark", 150, "tab-1")
    write_cache(tmp_path / "window.json", cache)
    assert read_cache(tmp_path / "window.json") == cache
    assert [one.name for one in tmp_path.iterdir()] == ["window.json"]


@pytest.mark.parametrize(
    "planted",
    [
        b"",
        b'{"theme": "dark", "side',
        b'{"theme": "dark"}{"theme": "light"}',
        b'["dark"]',
        b"\xef\xbb\xbf{}",
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
    ids=["empty", "half", "two glued", "a list", "a byte order mark", "no text", "deep"],
)
def test_f_s05_a_broken_file_costs_the_windows_place_only(tmp_path: Path, planted: bytes) -> None:
    path = tmp_path / "window.json"
    path.write_bytes(planted)
    assert read_cache(path) == WindowCache()
    write_cache(path, WindowCache(sidebar=200))
    assert read_cache(path).sidebar == 200


def test_u33_values_of_a_wrong_type_are_left_out_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text(json.dumps({"theme": "dark", "sidebar": "wide", "font_scale": True, "new": 1}))
    assert read_cache(path) == WindowCache(theme="dark")


def test_a_folder_that_can_not_be_written_costs_the_windows_place_only(tmp_path: Path) -> None:
    path = tmp_path / "none" / "window.json"
    write_cache(path, WindowCache(sidebar=200))
    assert read_cache(path) == WindowCache()


def test_f_s05_many_writers_never_leave_a_broken_file(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    write_cache(path, WindowCache(sidebar=99))
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number)])
        for number in (1, 2, 3)
    ]
    seen: set[int] = set()
    while any(one.poll() is None for one in writers):
        seen.add(read_cache(path).sidebar)
    assert [one.wait() for one in writers] == [0, 0, 0]
    assert 0 not in seen  # what a broken file reads as
    assert [one.name for one in tmp_path.iterdir()] == ["window.json"]
