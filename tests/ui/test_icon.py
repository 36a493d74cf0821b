"""Windows have the program's own icon, in the sizes that desktops ask for."""

from pathlib import Path

import pytest
import qasync
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from desktop import paths
from desktop.app.icon import SIZES, show_icon


@pytest.fixture
def app(qapp: QApplication) -> QApplication:
    qapp.setWindowIcon(QIcon())
    return qapp


def test_every_window_gets_the_icon_drawn_at_each_size(
    app: QApplication, loop: qasync.QEventLoop
) -> None:
    loop.run_until_complete(show_icon(app))
    icon = app.windowIcon()
    assert sorted(size.width() for size in icon.availableSizes()) == list(SIZES)
    # In the middle of the shell, and outside of it.
    image = icon.pixmap(64, 64).toImage()
    assert image.pixelColor(32, 32).alpha() == 255
    assert image.pixelColor(0, 0).alpha() == 0


def test_an_installation_without_its_resources_goes_without_an_icon(
    app: QApplication,
    loop: qasync.QEventLoop,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(
        paths, "resources", lambda: paths.find_resources(tmp_path, frozen_root=None)
    )
    loop.run_until_complete(show_icon(app))
    assert app.windowIcon().isNull()
