"""Settings, drawn from their declarations: one control a setting, a change counts at once.

The pages of access, of tool servers and of plugins are handed in and stand first; that of the
keyboard stands in the place of its one setting, that of storage takes its settings in, the note
about the sandbox stands over the settings of the tools, and what a feed of releases said under its
address.
A bad value is refused in words under its field and changes nothing.
"""

from collections.abc import Callable, Sequence
from typing import cast

from PySide6.QtCore import QSize, Qt
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
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from desktop.core.caching import CachePrices
from desktop.core.errors import SettingError
from desktop.core.setting import AnySetting, Setting
from desktop.settings import (
    BACKUP_FOLDER,
    BACKUP_INTERVAL,
    BASE_URL,
    KEYS,
    MODEL,
    RELEASE_FEED,
    SETTINGS,
)
from desktop.ui import asking, price_words
from desktop.ui.framed import FramedCombo
from desktop.ui.framed_spin import FramedSpin
from desktop.ui.preferences import LivePreferences
from desktop.ui.storage_page import StoragePage
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.wrapping_box import WrappingBox

COMBO_LETTERS = 16  # that a choice shows at least


class SettingsDialog(QDialog):
    """Opened with `open()`, never with a loop of its own."""

    def __init__(
        self,
        theme: Theme,
        preferences: LivePreferences,
        tasks: Tasks,
        *,
        access_page: QWidget,
        tool_servers_page: QWidget,
        plugins_page: QWidget,
        storage_page: StoragePage,
        keyboard_page: QWidget,
        cache_prices: Callable[[str], CachePrices | None],
        sandbox_note: QWidget | None = None,
        release_row: QWidget | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("settingsDialog")
        self.setWindowTitle(self.tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._preferences = preferences
        self._tasks = tasks
        self._storage_page = storage_page
        self._cache_prices = cache_prices
        self._price_notes: dict[str, QLabel] = {}
        self._sandbox_note = sandbox_note
        self._release_row = release_row
        first = (
            (self.tr("Access"), access_page),
            (self.tr("Tool servers"), tool_servers_page),
            (self.tr("Plugins"), plugins_page),
        )
        self._build(first, keyboard_page)
        preferences.changed.connect(self._preference_changed)
        wanted = QSize(theme.px(theme.measures.dialog * 5 // 4), theme.px(theme.measures.dialog))
        self.resize(wanted.boundedTo(self.screen().availableSize() * 0.9))

    # -- building -----------------------------------------------------------------------------

    def _build(self, first: Sequence[tuple[str, QWidget]], keyboard_page: QWidget) -> None:
        theme = self._theme
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.space_12, theme.space_12, theme.space_12, theme.space_12)
        row = QHBoxLayout()
        row.setSpacing(theme.space_12)
        self._sections = QListWidget(self)
        self._sections.setAccessibleName(self.tr("Sections"))
        self._pages = QStackedWidget(self)
        self._sections.currentRowChanged.connect(self._pages.setCurrentIndex)
        for title, page in first:
            self._add_page(title, page)
        for section in dict.fromkeys(setting.section for setting in SETTINGS):
            if section == KEYS.section:
                self._add_page(self.tr(section), keyboard_page)
                continue
            page = self._storage_page if section == "Storage" else QWidget(self)
            form = self._storage_page.form if section == "Storage" else self._form(page)
            if section == "Tools" and self._sandbox_note is not None:
                form.addRow(self._sandbox_note)
            fields = self._add_settings(form, section)
            if section == RELEASE_FEED.section and self._release_row is not None:
                form.addRow(self._release_row)
            self._add_page(self.tr(section), page)
            if page is self._storage_page:
                self._storage_page.lead_on_from(fields[-1])
        row.addWidget(self._sections)
        row.addWidget(self._pages, 1)
        outer.addLayout(row, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        # Enter in a field takes the value over and closes nothing.
        buttons.button(QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        outer.addWidget(buttons)
        self._sections.setCurrentRow(0)
        room = 2 * (theme.space_8 + theme.space_4) + theme.space_24
        self._sections.setFixedWidth(self._sections.sizeHintForColumn(0) + room)

    def _add_page(self, title: str, page: QWidget) -> None:
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setAccessibleName(title)
        scroll.setWidget(page)
        self._sections.addItem(title)
        self._pages.addWidget(scroll)

    def _add_settings(self, form: QFormLayout, section: str) -> list[QWidget]:
        """The fields of a section, in their order."""
        return [
            field
            for setting in SETTINGS
            # The server's address is set where it can be checked: on the page of access.
            if setting.section == section and setting.key != BASE_URL.key
            for field in self._add_setting(form, setting)
        ]

    def _form(self, page: QWidget) -> QFormLayout:
        form = QFormLayout(page)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        form.setVerticalSpacing(self._theme.space_8)
        return form

    def _add_setting(self, form: QFormLayout, setting: AnySetting) -> list[QWidget]:
        error = self._note("", danger=True)
        control = self._control(setting, error)
        field = control.focusProxy() or control
        field.setObjectName(setting.key)
        field.setAccessibleName(setting.label)
        if not isinstance(control, QCheckBox):
            label = QLabel(self.tr(setting.label), self)
            label.setWordWrap(True)
            label.setBuddy(field)
            form.addRow(label)
        form.addRow(control)
        form.addRow(self._note(self.tr(setting.help)))
        if setting.key in price_words.ABOUT:
            form.addRow(self._price_note(setting.key))
        form.addRow(error)
        return [field, *control.findChildren(QPushButton)]

    def _control(self, setting: AnySetting, error: QLabel) -> QWidget:
        value = self._preferences.value(cast("Setting[str]", setting))
        match setting.kind:
            case "bool":
                box = WrappingBox(self.tr(setting.label), self)
                box.setChecked(bool(value))
                box.toggled.connect(lambda on: self._change(setting, bool(on), error))
                return box
            case "choice":
                combo = FramedCombo(self._theme, self)
                # Its longest entry does not widen the page, at no scale.
                combo.setSizeAdjustPolicy(
                    QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
                )
                combo.setMinimumContentsLength(COMBO_LETTERS)
                for choice in setting.choices:
                    combo.addItem(self.tr(choice.label), choice.value)
                combo.setCurrentIndex(max(0, combo.findData(value)))
                combo.activated.connect(
                    lambda _: self._change(setting, str(combo.currentData()), error)
                )
                return combo
            case "int" | "float":
                spin = FramedSpin(self._theme, self)
                spin.setRange(setting.minimum or 0, setting.maximum or 1_000_000)
                spin.setSuffix(f" {setting.unit}" if setting.unit else "")
                spin.setValue(int(value))
                spin.setKeyboardTracking(False)
                spin.valueChanged.connect(lambda number: self._change(setting, number, error))
                return spin
            case "text" | "address":
                return self._line(setting, str(value), error)
            case "folder":
                return self._folder_field(setting, str(value), error)
            case "keys":
                raise AssertionError("keys have a page of their own")

    def _line(self, setting: AnySetting, value: str, error: QLabel) -> QLineEdit:
        line = QLineEdit(value, self)
        line.editingFinished.connect(lambda: self._change(setting, line.text().strip(), error))
        return line

    def _folder_field(self, setting: AnySetting, value: str, error: QLabel) -> QWidget:
        """A path that can be typed or chosen."""
        line = self._line(setting, value, error)
        choose = QPushButton(self.tr("Choose…"), self)
        choose.setObjectName(f"{setting.key}.choose")
        choose.setAccessibleName(self.tr("Choose: {setting}").format(setting=setting.label))
        field = self._beside(line, choose)
        field.setFocusProxy(line)

        async def ask() -> None:
            folder = await asking.choose_folder(self, self.tr(setting.label), line.text())
            if folder is not None and isValid(self):
                line.setText(str(folder))
                self._change(setting, str(folder), error)

        choose.clicked.connect(lambda: self._tasks.start(ask(), "choose a folder"))
        return field

    def _price_note(self, key: str) -> QLabel:
        note = self._price_notes[key] = self._note(self._priced(key))
        note.setObjectName(f"{key}.price")
        return note

    def _priced(self, key: str) -> str:
        return price_words.about(key, self._cache_prices(self._preferences.value(MODEL)))

    def _preference_changed(self, key: str) -> None:
        if key == MODEL.key:
            for about, note in self._price_notes.items():
                note.setText(self._priced(about))
        if key in (BACKUP_FOLDER.key, BACKUP_INTERVAL.key):
            self._storage_page.look_again()

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
