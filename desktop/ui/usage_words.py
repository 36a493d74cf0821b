"""Why a request read something anew, in sentences (LOOK.md "Words")."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from desktop.core.caching import CacheMiss, RequestUsage
from desktop.ui import words


def say(text: str) -> str:
    return QCoreApplication.translate("Usage", text)


def cause(miss: CacheMiss) -> str:
    """The reason in a few words."""
    match miss.cause:
        case "model":
            return say("Another model was chosen")
        case "account":
            return say("Another key or server was used")
        case "compaction":
            return say("The conversation was compacted")
        case "tools":
            return say("The set of tools was changed")
        case "rewrite":
            return say("A part that the provider refused was replaced")
        case "retracted":
            return say("A message that had been sent was taken back")
        case "effort":
            return say("Another effort was chosen")
        case "fork":
            return say("The cache held nothing of what this branch shares")
        case "expired":
            return say("The cache had let the conversation go in the meantime")
        case "changed":
            return say("The request differed from the one before it")
        case "provider":
            return say("The provider did not find it, though nothing had changed")


def aside(row: RequestUsage) -> str:
    """What is to be said of a request beside its numbers; mostly nothing."""
    if row.miss is not None:
        return cause(row.miss)
    return say("Kept warm") if row.is_refresh else ""


def sent(usage: Sequence[RequestUsage]) -> str:
    """How many bytes went out, and as how many; '' where nothing is known of them."""
    known = [row.upload for row in usage if row.upload is not None]
    body, went = sum(one.body for one in known), sum(one.sent for one in known)
    if not body:
        return ""
    if went >= body:
        return say("Sent: {size}").format(size=words.size(body))
    return say("Sent: {size} as {less}").format(size=words.size(body), less=words.size(went))


def explained(row: RequestUsage) -> str:
    """What a person may want to know of a request; '' for one like all others."""
    if row.miss is not None:
        return sentence(row.miss)
    if row.is_refresh:
        return say(
            "Kept warm: the conversation was read so that it stays in the provider's cache; nothing"
            " was answered."
        )
    return ""


def sentence(miss: CacheMiss) -> str:
    """All that is known: the reason, the tokens, what they cost, where and in whose words."""
    if miss.dollars is None:
        cost = say("{cause}: {tokens} tokens were sent again; their price is unknown.")
    else:
        cost = say(
            "{cause}: {tokens} tokens were sent again, {price} more than reading them from the"
            " cache."
        )
    parts = [
        cost.format(
            cause=cause(miss), tokens=words.tokens(miss.tokens), price=words.dollars(miss.dollars)
        )
    ]
    if miss.position:
        parts.append(say("The first difference is at {place}.").format(place=miss.position))
    if miss.reason.get("type"):
        parts.append(say("The provider says: {reason}.").format(reason=miss.reason["type"]))
    return " ".join(parts)
