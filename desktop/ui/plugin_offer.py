"""Whether a plugin is to run: what it may then, and exactly what is started. Asked once."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.core.plugins import PluginOffer
from desktop.ui import plugin_words, words
from desktop.ui.controls import text_label
from desktop.ui.server_words import breakable
from desktop.ui.theme import Theme

COMMAND_LINES = 6


class PluginOfferBox(QDialog):
    """Opened with `asking.finished`; accepted where the person agrees. Its button is never the one
    that Enter presses by itself."""

    def __init__(
        self,
        theme: Theme,
        offer: PluginOffer,
        *,
        is_sandboxed: bool | None,
        is_new: bool,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("pluginOffer")
        self.setWindowTitle(self.tr("Install a plugin") if is_new else self.tr("Enable a plugin"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(*[theme.space_16] * 4)
        outer.setSpacing(theme.space_12)
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(*[theme.space_4] * 4)
        column.setSpacing(theme.space_8)
        self._say("offerName", plugin_words.titled(offer), column).setProperty("heading", True)
        if is_new:
            self._say("offerFrom", self._from(offer), column).setProperty("muted", True)
        self._say("offerMay", self._may(offer), column)
        self._say("offerWhere", plugin_words.where(is_sandboxed), column)
        label = self._say("offerRuns", self.tr("This is started, each time:"), column)
        command = QPlainTextEdit(plugin_words.exactly(offer), page)
        command.setObjectName("offerCommand")
        command.setAccessibleName(self.tr("What is started"))
        command.setReadOnly(True)
        command.setTabChangesFocus(True)
        command.setProperty("monospace", True)
        command.setMinimumHeight(COMMAND_LINES * command.fontMetrics().lineSpacing())
        label.setBuddy(command)
        column.addWidget(command, 1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setAccessibleName(self.windowTitle())
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        outer.addWidget(scroll, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        agree = QPushButton(self.tr("Install") if is_new else self.tr("Enable"), self)
        agree.setObjectName("offerAgree")
        agree.setProperty("primary", True)
        # Of an accepting role Qt would make it the one that Enter presses.
        buttons.addButton(agree, QDialogButtonBox.ButtonRole.ActionRole)
        agree.clicked.connect(self.accept)
        for button in buttons.buttons():
            if isinstance(button, QPushButton):
                button.setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        outer.addWidget(buttons)
        command.setFocus()
        side = theme.px(theme.measures.dialog)
        self.resize(QSize(side, side * 7 // 8).boundedTo(self.screen().availableSize() * 0.9))

    def _from(self, offer: PluginOffer) -> str:
        some = self.tr("1 file") if offer.files == 1 else self.tr("{count} files")
        files, size = some.format(count=offer.files), words.size(offer.size)
        if offer.before:
            return self.tr("In the place of version {version} · {files}, {size}").format(
                version=offer.before, files=files, size=size
            )
        return self.tr("{files}, {size}").format(files=files, size=size)

    def _may(self, offer: PluginOffer) -> str:
        if not offer.wants:
            return self.tr("It may read nothing of yours; it only shows its page.")
        lines = [self.tr("It asks to be allowed to:")]
        for one in offer.wants:
            is_new = bool(offer.before) and one in offer.new
            text = plugin_words.capability(one)
            lines.append("• " + (self.tr("New: {what}").format(what=text) if is_new else text))
        return "\n".join(lines)

    def _say(self, name: str, text: str, column: QVBoxLayout) -> QLabel:
        label = text_label(self, name, breakable(text))
        label.setAccessibleName(text)
        label.setVisible(bool(text))
        column.addWidget(label)
        return label
