"""Where a link leads, said before anything is opened (SPEC U39, FIELD F-X01).

What a model writes may look like one address and lead to another: the menu names the place as the
browser will take it. Nothing is opened, and nothing fetched, before the person chooses.
"""

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from desktop.ui.transcript.saying import say
from desktop.ui.visible import visible

SAFE_SCHEMES = frozenset({"http", "https", "mailto"})
WIDTH = 60  # letters of an average width


def is_safe(address: str) -> bool:
    """Whether it is of the web or mail: nothing else is ever opened."""
    return QUrl(address).scheme().lower() in SAFE_SCHEMES


def place_of(address: str) -> str:
    """Whom one would talk to: the host, in letters that can't be mistaken for others."""
    url = QUrl(address)
    if url.scheme().lower() == "mailto":
        return visible(url.path())
    port = f":{url.port()}" if url.port() >= 0 else ""
    return url.host(QUrl.ComponentFormattingOption.FullyEncoded) + port


def offer_link(parent: QWidget, address: str, at: QPoint) -> QMenu:
    """Shows at a place of the screen where a link leads, and what can be done with it."""
    menu = QMenu(parent)
    menu.setObjectName("linkMenu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    safe = is_safe(address)
    metrics = QFontMetrics(menu.font())
    width = WIDTH * metrics.averageCharWidth()
    place = place_of(address) if safe else say("No address of the web")
    # Of a long name the end says whose it is.
    head = menu.addAction(_plain(metrics.elidedText(place, Qt.TextElideMode.ElideLeft, width)))
    head.setEnabled(False)
    font = menu.font()
    font.setBold(True)
    head.setFont(font)
    whole = metrics.elidedText(visible(address), Qt.TextElideMode.ElideMiddle, width)
    menu.addAction(_plain(whole)).setEnabled(False)
    menu.addSeparator()
    if safe:
        opening = menu.addAction(say("Open in the browser"), lambda: open_link(address))
        menu.setActiveAction(opening)
    menu.addAction(say("Copy the address"), lambda: QGuiApplication.clipboard().setText(address))
    menu.popup(at)
    return menu


def open_link(address: str) -> None:
    """Opens a link in the browser; anything but the web and mail is left alone."""
    if is_safe(address):
        QDesktopServices.openUrl(QUrl(address))


def _plain(text: str) -> str:
    """Text of a menu where & and tabs mean nothing."""
    return text.replace("&", "&&").replace("\t", " ")
