"""The calls of a step: side by side, each with one result, whatever happens to the others."""

import asyncio
from pathlib import Path

import pytest

from desktop.core.chunks import Json, ToolCall
from desktop.core.colouring import Style
from desktop.core.conversation import is_started_mark, started_calls
from desktop.core.errors import ToolFailed
from desktop.core.permissions import Answer
from desktop.core.printed import Span
from desktop.core.reducer import Opened
from desktop.core.tools import ToolOutcome
from tests.fakes.models import Gate, ScriptedModel, call, calls, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, results


def tool_of(log: list[str]) -> ScriptedTool:
    def answer(arguments: Json) -> ToolOutcome | Exception:
        log.append(str(arguments["at"]))
        match arguments["at"]:
            case "2":
                return ToolFailed("The file is not there.", way_out="Name another one.")
            case "5":
                return ZeroDivisionError("secret internals")
            case at:
                return ToolOutcome(f"output {at}")

    return ScriptedTool("look", answer=answer)


@played
async def test_S05_a_call_is_durable_before_its_tool_runs(tmp_path: Path) -> None:
    gate = Gate()
    tool = ScriptedTool("look", gates={"1": gate})
    stage = Stage(
        tmp_path, ScriptedModel([calls(call("c1", "look", {"at": "1"})), says("K")]), [tool]
    )
    await stage.tab()
    await stage.send("Look")
    await gate.reached()
    assert stage.story == ["user: Look", "call c1"]
    gate.open()
    await stage.idle()
    assert stage.story == ["user: Look", "call c1", "result c1", "assistant: K", "end done"]


@played
async def test_A07_a_durable_mark_says_which_calls_have_started(tmp_path: Path) -> None:
    gate = Gate()
    free = ScriptedTool("look", gates={"1": gate})
    asking = ScriptedTool("write", kind="write")
    model = ScriptedModel([calls(call("c1", "look", {"at": "1"}), call("c2", "write")), says("K")])
    stage = Stage(tmp_path, model, [free, asking])
    await stage.tab()
    await stage.send("Look")
    await gate.reached()
    await stage.published.until(lambda: bool(stage.supervisor.status(stage.tab_id).questions))
    assert started_calls(stage.rows) == {"c1"}
    question = stage.supervisor.status(stage.tab_id).questions[0]
    await stage.supervisor.answer(question.id, Answer("once"))
    await stage.published.until(lambda: "result c2" in stage.story)
    assert started_calls(stage.rows) == {"c1"}
    gate.open()
    await stage.idle()
    assert started_calls(stage.rows) == frozenset()


@played
async def test_calls_that_start_together_share_one_mark(tmp_path: Path) -> None:
    wanted = [call(f"c{n}", "look", {"n": n}) for n in range(20)]
    stage = Stage(tmp_path, ScriptedModel([calls(*wanted), says("K")]), [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Look")
    assert len([row for row in stage.rows if is_started_mark(row.data)]) < 5
    assert len(results(stage.rows)) == 20


@played
async def test_C04_parallel_calls_run_in_parallel_and_their_results_are_laid_down_as_they_finish(
    tmp_path: Path,
) -> None:
    gates = {str(n): Gate() for n in (1, 2, 3)}
    wanted = [call(f"c{n}", "look", {"at": n}) for n in gates]
    tool = ScriptedTool("look", gates=gates)
    model = ScriptedModel([calls(*wanted), says("K")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("Look")
    for gate in gates.values():
        await gate.reached()
    for n in ("3", "1", "2"):
        gates[n].open()
        await stage.published.until(lambda n=n: f"result c{n}" in stage.story)
    await stage.idle()
    assert stage.story[1:7] == [
        "call c1",
        "call c2",
        "call c3",
        "result c3",
        "result c1",
        "result c2",
    ]


@played
async def test_FW14_of_five_calls_each_gets_its_result(tmp_path: Path) -> None:
    """Ok, fails, denied, never returns until Stop, breaks: five results, each with a reason."""
    log: list[str] = []
    never = ScriptedTool("never", gates={"4": Gate()})
    deny = ScriptedTool("write", kind="write")
    wanted = [
        call("c1", "look", {"at": "1"}),
        call("c2", "look", {"at": "2"}),
        call("c3", "write", {"at": "3"}),
        call("c4", "never", {"at": "4"}),
        call("c5", "look", {"at": "5"}),
    ]
    model = ScriptedModel([calls(*wanted), says("K")])
    stage = Stage(tmp_path, model, [tool_of(log), deny, never])
    await stage.tab()
    await stage.send("Go")
    await stage.published.until(lambda: bool(stage.supervisor.status(stage.tab_id).questions))
    question = stage.supervisor.status(stage.tab_id).questions[0]
    await stage.supervisor.answer(question.id, Answer("deny", why="not that file"))
    await stage.published.until(lambda: len(results(stage.rows)) == 4)
    await stage.supervisor.stop(stage.tab_id)
    found = results(stage.rows)
    assert set(found) == {"c1", "c2", "c3", "c4", "c5"}
    assert (found["c1"].result, found["c1"].is_error) == ("output 1", False)
    assert found["c2"].result == "The file is not there. Name another one."
    assert found["c3"].result.startswith("Denied")
    assert "not that file" in found["c3"].result
    assert "Stopped by the person" in found["c4"].result
    assert found["c5"].result
    assert "secret internals" not in found["c5"].result
    assert all(found[id_].is_error for id_ in ("c2", "c3", "c4", "c5"))
    assert deny.ran == []
    await stage.run("Go on")
    assert stage.story[-2:] == ["assistant: K", "end done"]


@played
async def test_C13_twenty_identical_calls_run_once_and_get_twenty_results(tmp_path: Path) -> None:
    tool = ScriptedTool("look", says=("live",))
    wanted = [call(f"c{n}", "look", {"b": 1, "a": 2}) for n in range(19)]
    wanted.append(call("c19", "look", {"a": 2, "b": 1}))
    stage = Stage(tmp_path, ScriptedModel([calls(*wanted), says("K")]), [tool])
    await stage.tab()
    await stage.run("Look")
    assert len(tool.ran) == 1
    found = results(stage.rows)
    assert len(found) == 20
    assert len({one.result for one in found.values()}) == 1


@played
async def test_C13_calls_that_differ_run_each(tmp_path: Path) -> None:
    tool = ScriptedTool("look")
    wanted = [call(f"c{n}", "look", {"n": n}) for n in range(3)]
    stage = Stage(tmp_path, ScriptedModel([calls(*wanted), says("K")]), [tool])
    await stage.tab()
    await stage.run("Look")
    assert sorted(one["n"] for one in tool.ran) == [0, 1, 2]


@played
async def test_C10_malformed_arguments_are_answered_not_run(tmp_path: Path) -> None:
    tool = ScriptedTool("look")
    bad = ToolCall("c1", "look", {}, extra={"malformed": '{"at": '})
    stage = Stage(tmp_path, ScriptedModel([calls(bad), says("Sorry.")]), [tool])
    await stage.tab()
    await stage.run("Look")
    assert tool.ran == []
    assert results(stage.rows)["c1"].is_error
    assert "JSON" in results(stage.rows)["c1"].result
    assert stage.story[-1] == "end done"


@played
async def test_a_tool_that_does_not_exist_is_named_in_an_error_result(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1", "fly")), says("K")]))
    await stage.tab()
    await stage.run("Fly")
    found = results(stage.rows)["c1"]
    assert found.is_error
    assert "fly" in found.result


@pytest.mark.parametrize("error", [ToolFailed(""), ToolFailed("No such folder.")])
def test_a_tool_that_can_not_prepare_gives_a_reason(tmp_path: Path, error: Exception) -> None:
    @played
    async def scenario() -> None:
        tool = ScriptedTool("look", prepare_fails=error)
        stage = Stage(tmp_path, ScriptedModel([calls(call("c1")), says("K")]), [tool])
        await stage.tab()
        await stage.run("Look")
        assert tool.ran == []
        assert results(stage.rows)["c1"].is_error
        assert results(stage.rows)["c1"].result.strip()

    scenario()


@played
async def test_live_output_goes_under_the_id_of_the_result(tmp_path: Path) -> None:
    tool = ScriptedTool("shell", says=("line 1\n", "line 2\n"))
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1", "shell")), says("K")]), [tool])
    await stage.tab()
    await stage.run("Run")
    opened = [
        op
        for op in stage.published.live_ops()
        if isinstance(op, Opened) and op.type == "tool_result"
    ]
    assert [(op.role, op.name, op.call_id) for op in opened] == [("tool", "shell", "c1")]
    row = next(row for row in stage.rows if row.type == "tool_result")
    assert row.id == opened[0].id
    assert "line 1\nline 2\n" in stage.published.grown()


@played
async def test_U06_a_long_result_is_kept_as_a_file(tmp_path: Path) -> None:
    full = tmp_path / "full.txt"
    full.write_bytes(b"y" * 100_000)
    tool = ScriptedTool(
        "shell", answer=lambda _: ToolOutcome("yy … yy", shell={"exitCode": 0}, full=full)
    )
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1", "shell")), says("K")]), [tool])
    await stage.tab()
    await stage.run("Run")
    found = results(stage.rows)["c1"]
    assert found.result == "yy … yy"
    assert found.shell_output == {"exitCode": 0}
    assert found.extra["full"]["size"] == 100_000
    assert len(found.extra["full"]["sha256"]) == 64
    assert not full.exists()


@played
@pytest.mark.parametrize(("diff", "kept"), [("--- a\n+++ a\n", True), ("x" * 65_537, False)])
async def test_what_a_person_sees_beside_a_result_goes_into_its_row(
    tmp_path: Path, diff: str, kept: bool
) -> None:
    """The text of the model is the text alone; a change too long to be kept is left out."""
    colours = [Span(0, 3, Style(fore=1))]
    tool = ScriptedTool("look", answer=lambda _: ToolOutcome("red", colours=colours, diff=diff))
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1", "look")), says("K")]), [tool])
    await stage.tab()
    await stage.run("Look")
    found = results(stage.rows)["c1"]
    assert found.result == "red"
    expected = {"colours": [[0, 3, "38;5;1"]], **({"diff": diff} if kept else {})}
    assert found.extra == expected


@played
async def test_U27_the_same_call_with_the_same_result_runs_five_times_and_no_more(
    tmp_path: Path,
) -> None:
    tool = ScriptedTool("look")
    model = ScriptedModel([calls(call(f"c{n}", "look", {"n": 1})) for n in range(9)])
    model.then(says("Sorry."))
    stage = Stage(tmp_path, model, [tool], has_person=False)
    await stage.tab()
    await stage.run("Look")
    assert len(tool.ran) == 5
    assert len(model.asked) == 6
    assert results(stage.rows)["c5"].is_error
    assert stage.story[-2].startswith("notice The agent repeated")
    assert stage.story[-1] == "end failed"
    model.script[6] = says("Sorry.")
    await stage.run("Do something else")
    assert stage.story[-2:] == ["assistant: Sorry.", "end done"]


@played
async def test_U27_two_calls_that_alternate_are_stopped_too(tmp_path: Path) -> None:
    tool = ScriptedTool("look")
    model = ScriptedModel([calls(call(f"c{n}", "look", {"n": n % 2})) for n in range(20)])
    stage = Stage(tmp_path, model, [tool], has_person=False)
    await stage.tab()
    await stage.run("Look")
    assert len(tool.ran) == 10
    assert stage.story[-1] == "end failed"


@played
async def test_U27_the_same_error_over_and_over_is_stopped(tmp_path: Path) -> None:
    tool = ScriptedTool("look", answer=lambda _: ToolFailed("The file is not there."))
    model = ScriptedModel([calls(call(f"c{n}", "look", {"n": n})) for n in range(20)])
    stage = Stage(tmp_path, model, [tool], has_person=False)
    await stage.tab()
    await stage.run("Look")
    assert len(tool.ran) == 8


@played
async def test_U27_polling_whose_result_changes_goes_on(tmp_path: Path) -> None:
    seen: list[Json] = []

    def answer(arguments: Json) -> ToolOutcome | Exception:
        seen.append(arguments)
        return ToolOutcome(f"{len(seen)} %")

    model = ScriptedModel([calls(call(f"c{n}", "look", {})) for n in range(12)])
    model.then(says("Ready."))
    stage = Stage(tmp_path, model, [ScriptedTool("look", answer=answer)])
    await stage.tab()
    await stage.run("Wait for it")
    assert len(seen) == 12
    assert stage.story[-1] == "end done"


@played
async def test_a_tool_that_cancels_itself_is_an_error_result(tmp_path: Path) -> None:
    def answer(arguments: Json) -> ToolOutcome | Exception:
        raise asyncio.CancelledError

    stage = Stage(
        tmp_path,
        ScriptedModel([calls(call("c1")), says("K")]),
        [ScriptedTool("look", answer=answer)],
    )
    await stage.tab()
    await stage.run("Look")
    assert results(stage.rows)["c1"].is_error
    assert stage.story[-1] == "end done"


@played
async def test_U21_an_unforeseen_error_among_the_results_leaves_no_call_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()
    tool = ScriptedTool("look", gates={"2": gate})
    model = ScriptedModel([calls(*(call(f"c{n}", "look", {"at": n}) for n in ("1", "2")))])
    model.then(says("K"))
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    stage.store(stage.tab_id)
    times = iter([None, None, None, RuntimeError("a fault of ours")])

    def trouble(name: str, args: tuple[object, ...]) -> Exception | None:
        del args
        return next(times, None) if name == "append" else None

    stage.stores[stage.tab_id].trouble = trouble
    await stage.run("Look")
    found = results(stage.rows)
    assert (found["c1"].is_error, found["c2"].is_error) == (False, True)
    assert "outcome unknown" in found["c2"].result
    assert stage.story[-1] == "end failed"
    assert "a fault of ours" in caplog.text
    await stage.run("Again")
