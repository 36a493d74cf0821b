"""What is said of newer versions, in the notice and in the settings."""

from PySide6.QtCore import QCoreApplication

from desktop.core.releases import ReleaseNews
from desktop.ui.words import day_and_time


def notice(news: ReleaseNews) -> str:
    """The sentence of the notice; '' where none is to stand."""
    if news.newer is None or news.is_closed:
        return ""
    return _say("Nacre {version} is available. This is {own}.").format(
        version=news.newer.version, own=news.own
    )


def state(news: ReleaseNews, now_ms: int) -> str:
    """The line of the settings, errors apart."""
    if not news.address:
        return _say("Nothing is asked as long as there is no address.")
    if news.is_asking:
        return _say("Asking…")
    if news.asked_at is None:
        return "" if news.problem else _say("Not asked yet.")
    when = day_and_time(news.asked_at, now_ms)
    if news.newer is not None:
        return _say("Nacre {version} is available. This is {own}. Last asked: {when}").format(
            version=news.newer.version, own=news.own, when=when
        )
    return _say("There is nothing newer than {own}. Last asked: {when}").format(
        own=news.own, when=when
    )


def _say(text: str) -> str:
    return QCoreApplication.translate("ReleaseWords", text)
