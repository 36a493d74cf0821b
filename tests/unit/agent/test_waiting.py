"""What waits is read from the store; whether it is held is the person's doing."""

from pathlib import Path

from desktop.agent.waiting import Waiting
from tests.unit.agent.stage import Stage, played


async def waiting_on(stage: Stage, pressed: list[str]) -> Waiting:
    return Waiting(
        stage.store(await stage.tab()),
        tab_id=stage.tab_id,
        new_id=stage.new_id,
        now_ms=stage.now_ms,
        stopping=lambda: bool(pressed),
    )


@played
async def test_an_empty_queue_is_held_no_longer(tmp_path: Path) -> None:
    waiting = await waiting_on(Stage(tmp_path), pressed=[])
    waiting.hold()
    await waiting.read()
    assert not waiting.held
    await waiting.add("Go on", ())
    assert waiting.may_go


@played
async def test_stop_pressed_while_the_empty_queue_is_read_holds_what_comes_next(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path)
    pressed: list[str] = []
    waiting = await waiting_on(stage, pressed)

    async def before(name: str) -> None:
        if name == "queued" and not pressed:
            pressed.append("stop")
            waiting.hold()

    stage.stores[stage.tab_id].before = before
    await waiting.read()
    await waiting.add("Go on", ())
    assert waiting.held and not waiting.may_go


@played
async def test_a_message_that_was_taken_back_waits_no_longer(tmp_path: Path) -> None:
    """C06"""
    waiting = await waiting_on(Stage(tmp_path), pressed=[])
    await waiting.add("Never mind", ())
    id_ = waiting.messages[0].id
    taken = await waiting.take_back(id_)
    assert taken is not None and taken.text == "Never mind"
    assert waiting.messages == () and await waiting.take_back(id_) is None
