"""What is kept of a request's cache, as JSON and back (SPEC C18)."""

import pytest

from desktop.core.caching import (
    CacheMiss,
    CacheNote,
    Upload,
    note_of,
    note_to_json,
    upload_of,
    with_upload,
)


@pytest.mark.parametrize(
    "note",
    [
        CacheNote(),
        CacheNote("1h", "high", 12),
        CacheNote(
            seq=3,
            miss=CacheMiss(
                "retracted", 400, 0.5, "row-9", "messages[2].content[0]", {"type": "x", "n": [1]}
            ),
        ),
        CacheNote(miss=CacheMiss("provider", 1)),
    ],
)
def test_a_note_survives_its_record(note: CacheNote):
    assert note_of(note_to_json(note)) == note


@pytest.mark.parametrize("data", [None, {}, {"ttl": "2d"}, {"ttl": None}, {"ttl": ["5m"]}])
def test_a_record_without_a_readable_note_says_nothing(data: dict[str, object] | None):
    assert note_of(data) is None


@pytest.mark.parametrize("miss", [None, 5, {"cause": "moon"}, {"cause": ["ttl"]}, {"tokens": 3}])
def test_a_damaged_miss_is_none(miss: object):
    assert note_of({"ttl": "5m", "miss": miss}) == CacheNote()


def test_c5_the_bytes_of_a_request_stand_beside_its_note():
    note, upload = CacheNote("1h", seq=2), Upload(900, 300)
    data = with_upload(note_to_json(note), upload)
    assert (note_of(data), upload_of(data)) == (note, upload)
    assert upload_of(with_upload(None, upload)) == upload
    assert note_of(with_upload(None, upload)) is None


@pytest.mark.parametrize(
    "upload", [None, 3, {}, {"body": 3}, {"body": -1, "sent": 2}, {"sent": "x"}]
)
def test_damaged_bytes_are_unknown(upload: object):
    assert upload_of({"upload": upload}) is None
