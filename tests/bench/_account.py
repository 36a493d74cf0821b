"""What requests cost by the provider's rules, and the least that they could have cost.

In units of an uncached token. The least: each token is written once at 1.25 (at 2 where it is to
be kept for an hour) and read ever after at 0.1, whatever lay in the cache. A request is expected to
hold its predecessor's whole prompt, so that one which rewrites it pays more than the least, not the
same; only where the rules force a rewrite (`branches`) is it measured by what it has in common.
"""

from collections.abc import Collection, Sequence

from tests.fakes.sim import cache, models, prefix
from tests.fakes.sim.received import Received

WRITE_5M, WRITE_1H, READ = 1.25, 2.0, 0.1


def paid_to_least(
    requests: Sequence[Received], *, branches: Collection[int] = (), write: float = WRITE_5M
) -> float:
    """The ratio over all of them; `branches` are the places of requests that begin a fork or follow
    a summary, which share with the earlier ones what they have in common. `write` is the price at
    which a token can be written."""
    assert requests
    paid = least = 0.0
    for at, request in enumerate(requests):
        account = request.account
        assert account is not None, f"request {at} was refused: {request.error}"
        known = 0
        if at:
            earlier = requests[:at]
            known = _shared(request, earlier) if at in branches else _total(earlier[-1])
        paid += WRITE_5M * account.write_5m + WRITE_1H * account.write_1h
        paid += READ * account.read + account.input
        least += write * (account.total - known) + READ * known
    return paid / least


def _total(request: Received) -> int:
    assert request.account is not None
    return request.account.total


def _shared(request: Received, earlier: Sequence[Received]) -> int:
    """Tokens of the longest beginning that an earlier request had too, byte for byte."""
    model = models.find(request.json["model"])
    assert model is not None
    places = prefix.positions(request.json)
    sums = cache.cumulative(request.json, places, model)
    longest = 0
    for one in earlier:
        same = 0
        for place, other in zip(places, prefix.positions(one.json), strict=False):
            if place.raw != other.raw:
                break
            same += 1
        longest = max(longest, same)
    return sums[longest - 1] if longest else 0
