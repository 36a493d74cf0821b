"""Settings, drawn from their declarations: one control a setting, a change counts at once.

A section for access stands beside them: which key is used from where, the keyring's state, and
what can be done about it. A bad value is refused in words under its field and changes nothing.
"""

from collections.abc import Awaitable
from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop.core.access import Access, AccessState
from desktop.core.errors import NacreError, SettingError
from desktop.settings import BASE_URL, SETTINGS, AnySetting, Setting
from desktop.ui.preferences import LivePreferences
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme

_KEY_SOURCES = {
    "none": "No key is set.",
    "keyring": "The key comes from the system's keyring.",
    "environment": "The key comes from the environment variable ANTHROPIC_API_KEY.",
    "session": "The key is kept for this run only.",
    "unneeded": "This server is used without a key.",
}


class SettingsDialog(QDialog):
    """Opened with `open()`, never with a loop of its own."""

    def __init__(
        self,
        theme: Theme,
        preferences: LivePreferences,
        access: Access,
        tasks: Tasks,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("settingsDialog")
        self.setWindowTitle(self.tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._preferences = preferences
        self._access = access
        self._tasks = tasks
        self._build()
        self._show_access(access.state())
        self.resize(theme.measures.dialog, theme.measures.dialog * 3 // 4)

    # -- building -----------------------------------------------------------------------------

    def _build(self) -> None:
        theme = self._theme
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.space_12, theme.space_12, theme.space_12, theme.space_12)
        row = QHBoxLayout()
        row.setSpacing(theme.space_12)
        self._sections = QListWidget(self)
        self._sections.setAccessibleName(self.tr("Sections"))
        self._sections.setFixedWidth(theme.measures.sidebar * 3 // 5)
        self._pages = QStackedWidget(self)
        self._sections.currentRowChanged.connect(self._pages.setCurrentIndex)
        self._add_page(self.tr("Access"), self._access_page())
        for section in dict.fromkeys(setting.section for setting in SETTINGS):
            self._add_page(self.tr(section), self._section_page(section))
        row.addWidget(self._sections)
        row.addWidget(self._pages, 1)
        outer.addLayout(row, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        outer.addWidget(buttons)
        self._sections.setCurrentRow(0)

    def _add_page(self, title: str, page: QWidget) -> None:
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidget(page)
        self._sections.addItem(title)
        self._pages.addWidget(scroll)

    def _section_page(self, section: str) -> QWidget:
        page = QWidget(self)
        form = self._form(page)
        for setting in SETTINGS:
            # The server's address is set where it can be checked: on the page of access.
            if setting.section == section and setting.key != BASE_URL.key:
                self._add_setting(form, setting)
        return page

    def _form(self, page: QWidget) -> QFormLayout:
        form = QFormLayout(page)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        form.setVerticalSpacing(self._theme.space_8)
        return form

    def _add_setting(self, form: QFormLayout, setting: AnySetting) -> None:
        error = self._note("", danger=True)
        control = self._control(setting, error)
        control.setObjectName(setting.key)
        control.setAccessibleName(setting.label)
        if not isinstance(control, QCheckBox):
            form.addRow(QLabel(self.tr(setting.label), self), control)
        else:
            form.addRow(control)
        form.addRow(self._note(self.tr(setting.help)))
        form.addRow(error)

    def _control(self, setting: AnySetting, error: QLabel) -> QWidget:
        value = self._preferences.value(cast("Setting[str]", setting))
        match setting.kind:
            case "bool":
                box = QCheckBox(self.tr(setting.label), self)
                box.setChecked(bool(value))
                box.toggled.connect(lambda on: self._change(setting, bool(on), error))
                return box
            case "choice":
                combo = QComboBox(self)
                for choice in setting.choices:
                    combo.addItem(self.tr(choice.label), choice.value)
                combo.setCurrentIndex(max(0, combo.findData(value)))
                combo.activated.connect(
                    lambda _: self._change(setting, str(combo.currentData()), error)
                )
                return combo
            case "int" | "float":
                spin = QSpinBox(self)
                spin.setRange(setting.minimum or 0, setting.maximum or 1_000_000)
                spin.setSuffix(f" {setting.unit}" if setting.unit else "")
                spin.setValue(int(value))
                spin.setKeyboardTracking(False)
                spin.valueChanged.connect(lambda number: self._change(setting, number, error))
                return spin
            case "text" | "folder":
                line = QLineEdit(str(value), self)
                line.editingFinished.connect(
                    lambda: self._change(setting, line.text().strip(), error)
                )
                return line

    def _change(self, setting: AnySetting, value: bool | int | str, error: QLabel) -> None:
        try:
            self._preferences.change(setting.key, value)
        except SettingError as problem:
            error.setText(str(problem))
            error.show()
            return
        error.hide()

    def _note(self, text: str, *, danger: bool = False) -> QLabel:
        label = QLabel(text, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setProperty("danger" if danger else "muted", True)
        label.setVisible(bool(text))
        return label

    # -- access -------------------------------------------------------------------------------

    def _access_page(self) -> QWidget:
        page = QWidget(self)
        form = self._form(page)
        self._source = self._note("-")
        self._keyring = self._note("-")
        self._server = self._note("-")
        for label in (self._source, self._keyring, self._server):
            form.addRow(label)
        self._key = QLineEdit(self)
        self._key.setObjectName("settingsKey")
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._key.setPlaceholderText(self.tr("A new API key"))
        self._key.setAccessibleName(self.tr("A new API key"))
        keep = QPushButton(self.tr("Check and keep"), self)
        keep.clicked.connect(lambda: self._start(self._enter_key()))
        form.addRow(self._beside(self._key, keep))
        self._url = QLineEdit(self._preferences.value(BASE_URL), self)
        self._url.setObjectName(BASE_URL.key)
        self._url.setAccessibleName(self.tr(BASE_URL.label))
        self._url.setPlaceholderText(self.tr("Server address (empty: the provider's own)"))
        use = QPushButton(self.tr("Use this server"), self)
        use.clicked.connect(lambda: self._start(self._use_server()))
        form.addRow(self._beside(self._url, use))
        form.addRow(self._note(self.tr(BASE_URL.help)))
        check = QPushButton(self.tr("Test connection"), self)
        check.clicked.connect(lambda: self._start(self._check()))
        forget = QPushButton(self.tr("Forget the key"), self)
        forget.setObjectName("forgetKey")
        forget.clicked.connect(lambda: self._start(self._forget()))
        form.addRow(self._beside(check, forget))
        self._answer = self._note("")
        self._answer.setObjectName("accessAnswer")
        form.addRow(self._answer)
        return page

    def _beside(self, first: QWidget, second: QWidget) -> QWidget:
        holder = QWidget(self)
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self._theme.space_8)
        row.addWidget(first, 1)
        row.addWidget(second)
        for button in (first, second):
            if isinstance(button, QPushButton):
                button.setAutoDefault(False)
        return holder

    def _show_access(self, state: AccessState) -> None:
        self._source.setText(self.tr(_KEY_SOURCES[state.key_source]))
        self._keyring.setText(state.keyring_sentence)
        self._keyring.setVisible(bool(state.keyring_sentence))
        where = state.base_url or self.tr("the provider's own server")
        text = self.tr("Requests go to {where}.").format(where=where)
        if state.base_url_source == "environment":
            text += " " + self.tr("(set by the environment variable ANTHROPIC_BASE_URL)")
        self._server.setText(text)

    def _start(self, coroutine: Awaitable[str]) -> None:
        self._say(self.tr("Checking…"))
        self._tasks.start(self._guarded(coroutine), "settings: access")

    async def _guarded(self, coroutine: Awaitable[str]) -> None:
        try:
            said = await coroutine
        except NacreError as error:
            said = str(error)
        self._say(said)
        self._show_access(self._access.state())

    def _say(self, text: str) -> None:
        self._answer.setText(text)
        self._answer.setVisible(bool(text))

    async def _enter_key(self) -> str:
        if not self._key.text():
            return self.tr("Enter the key first.")
        failure = await self._access.enter_key(self._key.text())
        if failure is not None:
            return f"{failure.sentence} {failure.way_out}".strip()
        self._key.clear()
        return self.tr("The key works and is kept.")

    async def _use_server(self) -> str:
        failure = await self._access.use_server(self._url.text().strip())
        if failure is not None:
            return f"{failure.sentence} {failure.way_out}".strip()
        return self.tr("The server answers.")

    async def _check(self) -> str:
        failure = await self._access.check()
        if failure is not None:
            return f"{failure.sentence} {failure.way_out}".strip()
        return self.tr("The connection works.")

    async def _forget(self) -> str:
        await self._access.forget_key()
        return self.tr("The key is gone from the keyring.")
