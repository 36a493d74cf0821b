"""How much is tried: some examples and points in every run, many or all in a campaign by hand."""

from hypothesis import settings

CAMPAIGN = "campaign"
MORE = 50


def examples(usual: int) -> int:
    """The number for `max_examples`, by the profile that was chosen on the command line."""
    return usual * MORE if _is_campaign() else usual


def one_in(usual: int) -> int:
    """Of how many points of a kill one is tried."""
    return 1 if _is_campaign() else usual


def _is_campaign() -> bool:
    return settings.get_current_profile_name() == CAMPAIGN
