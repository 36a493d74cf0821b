"""The window's ear: hears what second starts say, and answers each in one line.

Loaded after the first paint. Whoever says too much, too little or nothing is let go unheard.
"""

import logging
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from desktop.app.handing_over import LONGEST, Answer, Message, decode

_LOG = logging.getLogger(__name__)
PATIENCE_MS = 2000
MOST = 8  # who wait at once


class Listener(QObject):
    """`heard` is called on the GUI thread with each message; what it answers goes back."""

    def __init__(self, heard: Callable[[Message], Answer], parent: QObject) -> None:
        super().__init__(parent)
        self._heard = heard
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.setMaxPendingConnections(MOST)
        self._server.newConnection.connect(self._meet)

    def listen(self, address: str) -> None:
        """For one who holds the window's lock: what lies at the address is of a dead process."""
        QLocalServer.removeServer(address)
        if not self._server.listen(address):
            _LOG.warning("a second start will not be heard: %s", self._server.serverError())

    def close(self) -> None:
        self._server.close()

    def _meet(self) -> None:
        while self._server.hasPendingConnections():
            _Caller(self._server.nextPendingConnection(), self._heard)


class _Caller(QObject):
    """One connection; lives as long as its socket."""

    def __init__(self, socket: QLocalSocket, heard: Callable[[Message], Answer]) -> None:
        super().__init__(socket)
        self._socket = socket
        self._heard = heard
        self._said = b""
        socket.setReadBufferSize(LONGEST)
        socket.disconnected.connect(socket.deleteLater)
        socket.readyRead.connect(self._hear)
        QTimer.singleShot(PATIENCE_MS, self, socket.abort)
        self._hear()

    def _hear(self) -> None:
        if b"\n" in self._said:
            return
        self._said += bytes(self._socket.readAll().data())
        line, end, _ = self._said.partition(b"\n")
        if not end and len(self._said) <= LONGEST:
            return
        message = decode(line) if end else None
        answer = "no" if message is None else self._heard(message)
        self._socket.write(answer.encode() + b"\n")
        self._socket.disconnectFromServer()
