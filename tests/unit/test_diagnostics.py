"""The log holds no secret whatever way it came, and the person gets sentences, not tracebacks."""

import asyncio
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop import diagnostics
from desktop.core.errors import NacreError
from desktop.core.logged import Word
from desktop.diagnostics import REMOVED, UNFORESEEN, Hooks, LogFile, Redaction
from desktop.paths import DataFolder

KEY = "sk-ant-api03-Zq9_xYw-77aaBBccDD"
ODD_KEY = 'local/"key"+with=odd é'


@pytest.fixture
def redaction() -> Redaction:
    return Redaction()


@pytest.fixture
def log(tmp_path: Path, redaction: Redaction) -> Iterator[LogFile]:
    file = LogFile(tmp_path, redaction)
    yield file
    file.close()


class Told:
    """Collects what the person would be told."""

    def __init__(self) -> None:
        self.items: list[tuple[str, str]] = []

    def __call__(self, sentence: str, detail: str) -> None:
        self.items.append((sentence, detail))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def hooks(told: Told, redaction: Redaction) -> Iterator[Hooks]:
    hooks = Hooks(told, redaction)
    hooks.install()
    yield hooks
    hooks.remove()


class TestRedaction:
    @pytest.mark.parametrize(
        "text",
        [
            f"key {KEY} was refused",
            f"Authorization: Bearer {KEY}",
            "authorization: bearer abcdef0123456789",
            "{'x-api-key': 'abcdef0123456789'}",
            "(b'x-api-key', b'abcdef0123456789')",
            "X-Api-Key: abcdef0123456789",
            "ANTHROPIC_API_KEY=abcdef0123456789",
            "api_key='abcdef0123456789', model='m'",
            "https://user:abcdef0123456789@example.org/v1",
            '{"refresh_token": "abcdef0123456789"}',
            "Proxy-Authorization: Basic abcdef0123456789",
        ],
    )
    def test_what_looks_like_a_key_is_removed(self, redaction: Redaction, text: str) -> None:
        cleaned = redaction.clean(text)
        assert "abcdef" not in cleaned
        assert "Zq9" not in cleaned
        assert REMOVED in cleaned

    def test_the_rest_of_the_line_stays(self, redaction: Redaction) -> None:
        line = f"request to https://api.example.org/v1 with {KEY} took 3 s, 401"
        assert redaction.clean(line) == line.replace(KEY, REMOVED)

    @pytest.mark.parametrize("spell", [str, repr, json.dumps, quote])
    def test_a_registered_secret_is_removed_in_every_spelling(
        self, redaction: Redaction, spell: type[str]
    ) -> None:
        redaction.forget(ODD_KEY)
        cleaned = redaction.clean(f"before {spell(ODD_KEY)} after")
        assert "local" not in cleaned
        assert cleaned.startswith("before ") and cleaned.endswith(" after")

    @given(
        st.text('ABCXYZ012+/=%"\\é\ud800', min_size=4),
        st.text("abc :=/'\n"),
        st.text("abc :=/'\n"),
    )
    def test_no_text_around_it_saves_a_registered_secret(
        self, secret: str, before: str, after: str
    ) -> None:
        redaction = Redaction()
        redaction.forget(secret)
        assert secret not in redaction.clean(before + secret + after).replace(REMOVED, "")

    def test_a_secret_within_a_longer_one_leaves_no_rest(self, redaction: Redaction) -> None:
        redaction.forget("abcd")
        redaction.forget("abcdefgh")
        assert redaction.clean("x abcdefgh y") == f"x {REMOVED} y"

    def test_its_repr_shows_none(self, redaction: Redaction) -> None:
        redaction.forget(ODD_KEY)
        assert "local" not in repr(redaction)

    def test_values_that_libraries_put_into_their_messages_are_removed(
        self, redaction: Redaction
    ) -> None:
        text = (
            "(sqlite3.OperationalError) locked\n[SQL: INSERT INTO chunks VALUES (?)]\n"
            "[parameters: ('what the person wrote',)]\n"
            "x [type=int, input_value='what the person wrote', input_type=str]"
        )
        cleaned = redaction.clean(text)
        assert "the person wrote" not in cleaned
        assert "INSERT INTO chunks" in cleaned


class TestLogFile:
    def test_a_key_is_in_no_line_whatever_way_it_came(
        self, log: LogFile, redaction: Redaction
    ) -> None:
        redaction.forget(ODD_KEY)
        logger = logging.getLogger("desktop.test")
        logger.info("message %s and %s", KEY, ODD_KEY)
        try:
            raise ValueError(f"bad key {ODD_KEY}") from RuntimeError(KEY)
        except ValueError:
            logger.exception("failed", stack_info=True)
        text = log.path.read_text("utf-8")
        assert "RuntimeError" in text
        assert "Zq9" not in text
        assert "local/" not in text

    def test_libraries_are_heard_from_warnings_on_only(self, log: LogFile) -> None:
        logging.getLogger("anthropic").debug("the whole prompt")
        logging.getLogger("sqlalchemy.engine").info("the whole row")
        logging.getLogger("httpx2").warning("a warning")
        text = log.path.read_text("utf-8")
        assert "the whole" not in text
        assert "a warning" not in text
        assert "WARNING" in text
        assert "httpx2: test_diagnostics.py:" in text

    def test_it_is_cut_and_kept_in_four_files(
        self, log: LogFile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        logger = logging.getLogger("desktop.test")
        for number in range(300):
            logger.info("%d %s", number, Word("x" * 19_900))
        files = sorted(path.name for path in log.path.parent.iterdir())
        assert files == ["nacre.log", "nacre.log.1", "nacre.log.2", "nacre.log.3"]
        assert all(
            path.stat().st_size <= diagnostics.LOG_BYTES for path in log.path.parent.iterdir()
        )

    def test_lone_surrogates_and_nul_are_written(self, log: LogFile) -> None:
        logging.getLogger("desktop.test").info("odd %s", Word("\ud800 \0 text"))
        assert "\\ud800" in log.path.read_text("utf-8")

    def test_a_log_that_can_not_be_written_is_silent(
        self, tmp_path: Path, redaction: Redaction, capsys: pytest.CaptureFixture[str]
    ) -> None:
        log = LogFile(tmp_path / "missing", redaction)
        logging.getLogger("desktop.test").info("lost")
        log.close()
        assert capsys.readouterr() == ("", "")

    def test_closing_leaves_logging_as_it_was(self, tmp_path: Path, redaction: Redaction) -> None:
        root = logging.getLogger()
        before = (root.level, list(root.handlers), logging.getLogger("desktop").level)
        LogFile(tmp_path, redaction).close()
        assert (root.level, list(root.handlers), logging.getLogger("desktop").level) == before


class TestHooks:
    def test_an_error_in_a_thread_is_logged_and_told(
        self, hooks: Hooks, told: Told, log: LogFile
    ) -> None:
        thread = threading.Thread(target=fail, name="a-thread")
        thread.start()
        thread.join()
        sentence, detail = told.items[0]
        assert sentence == UNFORESEEN
        assert "RuntimeError: broken with" in detail
        assert "test_diagnostics.py" in detail
        assert "Traceback" not in detail
        assert "Zq9" not in detail
        assert "a-thread" in log.path.read_text("utf-8")

    def test_an_error_in_a_loop_is_logged_and_told(
        self, hooks: Hooks, told: Told, log: LogFile
    ) -> None:
        loop = asyncio.new_event_loop()
        hooks.watch(loop)
        loop.call_soon(fail)
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        assert told.items[0][0] == UNFORESEEN
        assert "in fail" in log.path.read_text("utf-8")

    def test_a_loop_message_without_an_error_is_only_logged(
        self, hooks: Hooks, told: Told, log: LogFile
    ) -> None:
        loop = asyncio.new_event_loop()
        hooks.watch(loop)
        loop.call_exception_handler({"message": f"odd {KEY}", "future": loop.create_future()})
        loop.close()
        assert told.items == []
        text = log.path.read_text("utf-8")
        assert "complains of <Future>" in text
        assert "odd" not in text

    def test_an_error_with_words_of_its_own_is_told_in_them(self, hooks: Hooks, told: Told) -> None:
        error = NacreError("The disk is full.", way_out="Make room.", detail=f"errno 28 {KEY}")
        hooks.report(error, where="a test")
        assert told.items == [("The disk is full. Make room.", f"errno 28 {REMOVED}")]

    def test_a_callback_that_fails_does_no_harm(self, log: LogFile, redaction: Redaction) -> None:
        def tell(sentence: str, detail: str) -> None:
            raise OSError("no window")

        Hooks(tell, redaction).report(ValueError("x"), where="a test")
        assert "telling an error failed" in log.path.read_text("utf-8")

    def test_ending_a_thread_is_no_error(self, hooks: Hooks, told: Told) -> None:
        thread = threading.Thread(target=sys.exit)
        thread.start()
        thread.join()
        assert told.items == []

    def test_removing_them_leaves_the_interpreter_as_it_was(
        self, told: Told, redaction: Redaction
    ) -> None:
        before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        hooks = Hooks(told, redaction)
        hooks.install()
        hooks.install()
        hooks.remove()
        assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before

    def test_a_program_that_fails_prints_no_traceback(self, tmp_path: Path) -> None:
        program = f"""
import sys
from pathlib import Path
from urllib.parse import quote
from desktop.diagnostics import Hooks, LogFile, Redaction
redaction = Redaction()
LogFile(Path({str(tmp_path)!r}), redaction)
Hooks(lambda sentence, detail: print(sentence, file=sys.stderr), redaction).install()
raise RuntimeError({KEY!r})
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.strip() == UNFORESEEN
        text = (tmp_path / "nacre.log").read_text("utf-8")
        assert "  Traceback:\n  RuntimeError\n" in text
        assert "Zq9" not in text


class TestReport:
    def test_it_names_versions_and_the_data_folder_as_json(self, tmp_path: Path) -> None:
        report = diagnostics.environment_report(DataFolder(tmp_path / "new"), sqlite="3.40.1")
        again = json.loads(json.dumps(report))
        assert again["sqlite"] == "3.40.1"
        assert again["python"].startswith("3.")
        assert again["libraries"]["anthropic"]
        assert again["qt"]
        assert again["dataFolder"] == str(tmp_path / "new")
        assert again["freeBytes"] > 0
        assert again["databaseBytes"] is None

    def test_it_imports_none_of_the_libraries_and_creates_nothing(self, tmp_path: Path) -> None:
        program = f"""
import sys
from pathlib import Path
from urllib.parse import quote
from desktop.diagnostics import environment_report
from desktop.paths import DataFolder
environment_report(DataFolder(Path({str(tmp_path / "new")!r})), sqlite="")
slow = {{"anthropic", "sqlmodel", "sqlalchemy", "keyring", "pygments", "PySide6", "sqlite3"}}
print(sorted(slow & set(sys.modules)))
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"
        assert list(tmp_path.iterdir()) == []

    def test_it_holds_no_secret_of_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        report = diagnostics.environment_report(DataFolder(tmp_path), sqlite="")
        assert "Zq9" not in json.dumps(report)


def fail() -> None:
    raise RuntimeError(f"broken with {KEY}")
