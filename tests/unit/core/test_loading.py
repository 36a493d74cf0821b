"""While something loads nobody collects garbage by hand."""

from desktop.core.loading import at_rest, is_resting


def test_u10_it_rests_until_the_last_of_what_loads_is_there() -> None:
    assert not is_resting()
    with at_rest():
        with at_rest():
            assert is_resting()
        assert is_resting()
    assert not is_resting()
