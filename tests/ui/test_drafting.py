"""What is being written survives: text, place and attachments (SPEC U14)."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
import qasync
from pytestqt.qtbot import QtBot

from desktop.core.drafts import Draft
from desktop.store.log import Log
from desktop.tools.attachments.reading import attachment_of, picture_of
from desktop.ui.attaching import Reading, attach
from desktop.ui.attachments import AttachmentChip
from desktop.ui.composer import Composer
from desktop.ui.drafting import Drafting
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.unit.tools.pictures import drawn

READING = Reading(file=attachment_of, picture=picture_of)


def open_log(folder: Path) -> Log:
    return Log.open(
        folder / "nacre.db",
        blobs=folder / "blobs",
        run=folder / "run",
        new_id=lambda: "tab",
        now_ms=lambda: 1,
    )


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer(Theme("light", LIGHT))
    qtbot.addWidget(made)
    made.show()
    return made


def drafting(log: Log, tab: str, composer: Composer) -> Drafting:
    return Drafting(
        tab, catalogue=log.catalogue, tasks=Tasks(), composer=composer, draft=composer.draft
    )


def run(loop: qasync.QEventLoop, work: Coroutine[Any, Any, None]) -> None:
    loop.run_until_complete(asyncio.wait_for(work, 60))


async def new_tab(log: Log, folder: Path) -> str:
    workspace = await log.catalogue.open_workspace(folder)
    return (await log.catalogue.create_tab(workspace.id)).id


def test_u14_text_place_and_attachments_come_back_in_another_process(
    composer: Composer, loop: qasync.QEventLoop, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "cat.png").write_bytes(drawn((60, 40)))
    other = Composer(Theme("light", LIGHT))
    qtbot.addWidget(other)

    async def write_and_read() -> None:
        log = open_log(tmp_path)
        tab = await new_tab(log, tmp_path)
        first = drafting(log, tab, composer)
        await first.bring_back(lambda: False)
        await attach(composer, [tmp_path / "cat.png"], READING)
        composer.attach("Pasted text", "one\r\n\u00a0two")
        composer.set_text("look at this")
        composer.set_caret(4)
        await first.keep()
        # The other one opens the file while the first still has it, as after a kill.
        again = open_log(tmp_path)
        await drafting(again, tab, other).bring_back(lambda: False)
        await again.close()
        await log.close()

    run(loop, write_and_read())
    assert other.draft() == composer.draft()
    assert other.draft().caret == 4
    other.field.undo()
    assert other.text() == "look at this"
    names = [chip.attachment["name"] for chip in other.attached.findChildren(AttachmentChip)]
    assert names == ["cat.png", "Pasted text"]


def test_u14_what_is_attached_is_written_once_however_often_the_text_is_saved(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    saved: list[str] = []

    async def write() -> None:
        log = open_log(tmp_path)
        kept = drafting(log, await new_tab(log, tmp_path), composer)
        put = log.catalogue.save_attachments

        async def counted(tab_id: str, attachments: Any) -> None:
            saved.append(tab_id)
            await put(tab_id, attachments)

        log.catalogue.save_attachments = counted
        await kept.bring_back(lambda: False)
        composer.attach("Pasted text", "x" * 100_000)
        for text in ("a", "ab", "abc"):
            composer.set_text(text)
            await kept.keep()
        await log.close()

    run(loop, write())
    assert len(saved) == 1


def test_u14_one_who_never_pauses_is_saved_all_the_same(
    composer: Composer, loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    """A timer that begins anew with every key would wait for the first pause."""
    saved: list[str] = []
    composer.draft_changed.connect(lambda: saved.append(composer.text()))

    async def type_on() -> None:
        while not saved:
            qtbot.keyClicks(composer.field, "x")
            await asyncio.sleep(0.02)

    run(loop, type_on())
    assert saved[0]


def test_u14_what_was_written_before_the_draft_was_read_stands_below_it(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    async def write() -> None:
        log = open_log(tmp_path)
        tab = await new_tab(log, tmp_path)
        await log.catalogue.save_draft(tab, "half a thought", caret=4)
        kept = drafting(log, tab, composer)
        composer.set_text("n")
        await kept.bring_back(lambda: False)
        assert composer.text() == "half a thought\nn"
        await kept.keep()
        assert (await log.catalogue.draft(tab)).text == "half a thought\nn"
        await log.close()

    run(loop, write())


def test_u14_what_was_written_before_the_draft_was_read_is_kept_below_it_at_once(
    composer: Composer, loop: qasync.QEventLoop, qtbot: QtBot, tmp_path: Path
) -> None:
    """The program may end in that very moment."""
    other = Composer(Theme("light", LIGHT))
    qtbot.addWidget(other)
    pasted = {"name": "Pasted text", "text": "one"}

    async def write() -> None:
        log = open_log(tmp_path)
        tab = await new_tab(log, tmp_path)
        await log.catalogue.save_draft(tab, "half 🐚", caret=2)
        await log.catalogue.save_attachments(tab, [pasted])
        kept = drafting(log, tab, composer)
        composer.set_text("and more")
        composer.set_caret(3)
        composer.attach("Notes", "two")
        await kept.keep()
        now = await log.catalogue.draft(tab)
        assert (now.text, now.caret) == ("half 🐚\nand more", 8 + 3)
        assert [one["name"] for one in now.attachments] == ["Pasted text", "Notes"]
        await kept.keep()
        assert await log.catalogue.draft(tab) == now, "once"
        # It goes on, or begins again: the same either way.
        await kept.bring_back(lambda: False)
        await drafting(log, tab, other).bring_back(lambda: False)
        assert composer.text() == other.text() == now.text
        await kept.keep()
        assert (await log.catalogue.draft(tab)).text == now.text
        await log.close()

    run(loop, write())


def test_u14_what_is_sent_before_the_draft_was_read_takes_nothing_of_it(
    composer: Composer, loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    async def write() -> None:
        log = open_log(tmp_path)
        tab = await new_tab(log, tmp_path)
        await log.catalogue.save_draft(tab, "half a thought", caret=4)
        kept = drafting(log, tab, composer)
        composer.set_text("sent")
        await kept.keep()
        composer.clear()
        await kept.keep()
        assert await log.catalogue.draft(tab) == Draft("half a thought", 4)
        await kept.bring_back(lambda: False)
        assert composer.text() == "half a thought"
        await log.close()

    run(loop, write())
