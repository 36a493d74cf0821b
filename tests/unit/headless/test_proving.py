"""What the self-test takes for a leak, for a missing feature, and for an end."""

import pytest

from desktop.headless.proving import leaking, tried
from desktop.store import features


def test_a_variable_that_leads_into_the_bundle_is_a_leak() -> None:
    printed = "PATH=/usr/bin\nLD_LIBRARY_PATH=/usr/lib/nacre/_internal\nno variable\n_=/b/x\n"
    assert leaking(printed, "/usr/lib/nacre/_internal") == {"LD_LIBRARY_PATH"}
    assert leaking(printed, "") == set()


def test_what_only_the_packager_knows_is_a_leak_wherever_it_leads() -> None:
    assert leaking("_PYI_PARENT_PROCESS_LEVEL=1\nHOME=/home/me\n", "") == {
        "_PYI_PARENT_PROCESS_LEVEL"
    }


def test_a_check_that_fails_is_a_finding() -> None:
    def check() -> dict[str, object]:
        raise ImportError("libGL.so.1: cannot open shared object file")

    found = tried(check)
    assert not found["ok"]
    assert "libGL.so.1" in found["problem"]


def test_this_sqlite_has_what_the_log_needs() -> None:
    assert features.missing_features() == ()


def test_a_sqlite_without_a_feature_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    without = {**features.NEEDED, "fts5": "CREATE VIRTUAL TABLE found USING fts0(x)"}
    monkeypatch.setattr(features, "NEEDED", without)
    assert features.missing_features() == ("fts5",)
