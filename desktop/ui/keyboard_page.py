"""Settings → Keyboard: every action with its keys, found by words or by a key, and changed here.

A change counts at once. Keys that another action has are named with it before they are taken; keys
that writing needs are refused. What acts only in one field is shown and can't be changed.
"""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QHeaderView, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from desktop.core.errors import SettingError
from desktop.settings import KEYS
from desktop.ui import key_lines
from desktop.ui.actions import native
from desktop.ui.announcing import announce
from desktop.ui.controls import act_button, make_clearable, text_label
from desktop.ui.flow import FlowLayout
from desktop.ui.key_field import KeyField
from desktop.ui.key_lines import NAME_ROLE
from desktop.ui.preferences import LivePreferences
from desktop.ui.shortcuts import FIXED, SPECS, Keys, Shortcuts, is_needed_for_writing, read
from desktop.ui.tables import plain_table
from desktop.ui.theme import Theme

LINES = 6


class KeyboardPage(QWidget):
    """One page of the settings."""

    def __init__(
        self, theme: Theme, preferences: LivePreferences, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("keyboardPage")
        self._theme = theme
        self._preferences = preferences
        self._name = ""
        self._adds = False
        self._wanted: Callable[[], object] = lambda: None
        self._build()
        preferences.changed.connect(self._preference_changed)
        self._fill()

    # -- what is ------------------------------------------------------------------------------

    def _shortcuts(self) -> Shortcuts:
        return read(self._preferences.value(KEYS))

    def _preference_changed(self, key: str) -> None:
        if key == KEYS.key:
            self._fill()

    def _fill(self) -> None:
        """The lines that fit the filters; the chosen one stays so."""
        name = self._name
        lines = key_lines.matching(
            key_lines.lines(self._shortcuts()), self._words.text(), self._key
        )
        self._model.removeRows(0, self._model.rowCount())
        key_lines.fill(self._model, lines)
        self.table.expandAll()
        self._choose(name)

    def _choose(self, name: str) -> None:
        found = self._model.match(self._model.index(0, 0), NAME_ROLE, name, 1, key_lines.EXACTLY)
        if name and found:
            self.table.setCurrentIndex(found[0])
            self.table.scrollTo(found[0])
        self._show_chosen()

    def _show_chosen(self) -> None:
        """What can be done with the line that the keyboard is on."""
        self._drop()
        self._adds = False
        self._name = str(self.table.currentIndex().siblingAtColumn(0).data(NAME_ROLE) or "")
        shortcuts, spec = self._shortcuts(), SPECS.get(self._name)
        keys = shortcuts.in_force()[self._name] if spec else ()
        title = self.tr("Keys of “{action}”").format(action=self.tr(spec.text)) if spec else ""
        self._title.setText(title or self.tr("Choose an action"))
        self._field.show_keys(*keys)
        self._field.setEnabled(spec is not None)
        self._add.setEnabled(bool(keys))
        is_usual = spec is None or (keys == spec.keys and self._name not in shortcuts.changed)
        self._reset.setEnabled(not is_usual)
        self._reset_all.setEnabled(shortcuts.reset() != shortcuts)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            # A scroll area knows nothing of texts that get taller as they get narrower.
            self.setMinimumHeight(self._column.totalMinimumHeightForWidth(self.width()))
        return super().event(event)

    # -- what the person does -----------------------------------------------------------------

    def _given(self, keys: str) -> None:
        held = self._shortcuts().in_force()[self._name]
        wanted = tuple(dict.fromkeys((*held, keys))) if self._adds else (keys,)
        self._propose(wanted)

    def _propose(self, keys: Keys) -> None:
        """Keeps the keys, or says what is against it."""
        self._drop()
        shortcuts = self._shortcuts()
        for one in keys:
            if is_needed_for_writing(one) or one in FIXED:
                self._say(self._refusal(one))
                return
        keep = partial(self._keep, shortcuts.given(self._name, keys))
        for one in keys:
            holder = shortcuts.holder(one, but=self._name)
            if holder is not None:
                words = self.tr("{keys} belongs to “{action}”. Take it from there?")
                text = words.format(keys=native(one), action=self.tr(holder.text))
                self._ask(text, self.tr("Take it"), keep)
                return
        keep()

    def _refusal(self, keys: str) -> str:
        if keys in FIXED:
            words = self.tr("{keys} always does the same: {act}. Choose other keys.")
            return words.format(keys=native(keys), act=self.tr(FIXED[keys]))
        words = self.tr("{keys} alone is needed for writing and moving. Add Ctrl or Alt.")
        return words.format(keys=native(keys))

    def _keep(self, shortcuts: Shortcuts) -> None:
        try:
            self._preferences.change(KEYS.key, shortcuts.text())
        except SettingError as problem:
            self._say(str(problem))
            return
        announce(self._field, f"{self._title.text()}: {self._field.text()}")

    def _want_another(self) -> None:
        self._adds = True
        self._field.setFocus()
        self._say(self.tr("Press the keys that it should have too."))

    def _want_reset_all(self) -> None:
        words = self.tr("Every action gets the keys back that Nacre gives it.")
        self._ask(words, self.tr("Reset them"), lambda: self._keep(self._shortcuts().reset()))

    def _filter_by_key(self, keys: str) -> None:
        self._key = keys
        self._key_filter.show_keys(*((keys,) if keys else ()))
        self._fill()

    # -- saying -------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        self._answer.setText(text)
        self._answer.show()
        announce(self._answer, text)
        self._bring_into_sight(self._answer)

    def _ask(self, text: str, yes: str, act: Callable[[], object]) -> None:
        self._say(text)
        self._wanted = act
        self._yes.setText(yes)
        self._yes.show()
        self._no.show()
        self._yes.setFocus()
        self._bring_into_sight(self._yes)

    def _bring_into_sight(self, part: QWidget) -> None:
        """In a low window the page scrolls; what asks must not stand under its edge."""
        around = self.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is not None:
            # Once the page has got the height that its new lines need.
            QTimer.singleShot(0, part, partial(around.ensureWidgetVisible, part))

    def _agree(self) -> None:
        self.table.setFocus()
        self._wanted()
        self._drop()

    def _disagree(self) -> None:
        self._field.setFocus()
        self._drop()

    def _drop(self) -> None:
        for part in (self._answer, self._yes, self._no):
            part.hide()

    # -- building -----------------------------------------------------------------------------

    def _build(self) -> None:
        theme = self._theme
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_4, 0, theme.space_12, 0)
        column.setSpacing(theme.space_8)
        column.addLayout(self._filters())
        self._model = QStandardItemModel(0, 2, self)
        self._model.setHorizontalHeaderLabels([self.tr("Action"), self.tr("Keys")])
        self.table = plain_table(
            self, "keyTable", self._model, told=self.tr("Actions and their keys"), lines=LINES
        )
        self.table.setItemsExpandable(False)
        self.table.setIndentation(theme.space_12)
        self.table.header().setStretchLastSection(False)
        self.table.header().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.selectionModel().currentChanged.connect(lambda *_: self._show_chosen())
        self.table.activated.connect(lambda _: self._field.setFocus())
        column.addWidget(self.table, 1)
        self._field = KeyField(self, "newKeys")
        self._field.given.connect(self._given)
        self._field.cleared.connect(lambda: self._propose(()))
        for field in (self._field, self._key_filter):
            field.left.connect(self.table.setFocus)
        self._title = text_label(self, "keysOf")
        self._title.setBuddy(self._field)
        column.addWidget(self._title)
        column.addLayout(self._acts())
        self._answer = text_label(self, "keyboardAnswer")
        column.addWidget(self._answer)
        self._yes = act_button(self, "", "takeKeys", self._agree)
        self._no = act_button(self, self.tr("Leave it"), "leaveKeys", self._disagree)
        column.addLayout(self._row(self._yes, self._no))
        note = self.tr("Press the new keys in the field. Backspace takes them away, Esc leaves it.")
        about = text_label(self, "keyboardNote", note)
        about.setProperty("muted", True)
        column.addWidget(about)

    def _filters(self) -> FlowLayout:
        self._key = ""
        self._words = QLineEdit(self)
        self._words.setObjectName("keyWords")
        self._words.setAccessibleName(self.tr("Find an action by its words"))
        self._words.setPlaceholderText(self.tr("Find by words"))
        make_clearable(self._words)
        self._words.textChanged.connect(lambda _: self._fill())
        self._key_filter = KeyField(self, "keyFilter")
        self._key_filter.setAccessibleName(self.tr("Find an action by pressing its keys"))
        self._key_filter.setPlaceholderText(self.tr("Or press keys"))
        self._key_filter.given.connect(self._filter_by_key)
        self._key_filter.cleared.connect(lambda: self._filter_by_key(""))
        return self._row(self._words, self._key_filter)

    def _acts(self) -> FlowLayout:
        self._add = act_button(self, self.tr("Add another"), "addKeys", self._want_another)
        self._reset = act_button(
            self, self.tr("Reset"), "resetKeys", lambda: self._propose(SPECS[self._name].keys)
        )
        self._reset_all = act_button(
            self, self.tr("Reset all…"), "resetAllKeys", self._want_reset_all
        )
        return self._row(self._field, self._add, self._reset, self._reset_all)

    def _row(self, *parts: QWidget) -> FlowLayout:
        row = FlowLayout(self._theme.space_8)
        for part in parts:
            row.addWidget(part)
        return row
