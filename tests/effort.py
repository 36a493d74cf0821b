"""How many examples a property is tried with: few in every run, many in a campaign by hand."""

from hypothesis import settings

CAMPAIGN = "campaign"
MORE = 50


def examples(usual: int) -> int:
    """The number for `max_examples`, by the profile that was chosen on the command line."""
    return usual * MORE if settings.get_current_profile_name() == CAMPAIGN else usual
