"""Whether a tool may do what it is about to do: rules and mode answer, or the person.

Questions wait side by side, that about a circle (`circling`) among them; an "always" stores a rule
of the workspace and answers every other open question that it covers (SPEC U30). Without a person
to ask, asking is refusing.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from desktop.core.errors import StoreError
from desktop.core.permissions import Act, Answer, Circle, PermissionMode, Question, Rule, judge

READ_ONLY = (
    "Not allowed: the permission mode is read-only, so nothing was done. Only reading inside the "
    "workspace folder is possible."
)
NOBODY = (
    "Not allowed: this needs a person's permission and nobody is there to give it. Nothing was "
    "done."
)
DENIED = "Denied by the person: nothing was done."


class Rules(Protocol):
    """Where the kept answers of a workspace live; the catalogue is one."""

    async def rules(self, workspace_id: int) -> frozenset[Rule]: ...

    async def add_rule(self, rule: Rule) -> None: ...


@dataclass(frozen=True, slots=True)
class Asker:
    """The conversation in which a call asks; `mode` is read anew at every judgement."""

    tab_id: str
    workspace_id: int
    mode: Callable[[], PermissionMode]
    changed: Callable[[], None]


@dataclass(slots=True)
class _Open:
    question: Question
    asker: Asker
    answered: "asyncio.Future[str | None]"


class Approvals:
    """The open questions of all conversations, oldest first.

    `caution` hears of an act that runs unasked though it has something to be said about it.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        has_person: bool,
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
        caution: Callable[[Act], None] = lambda act: None,
    ) -> None:
        self._rules = rules
        self.has_person = has_person
        self._new_id = new_id
        self._now_ms = now_ms
        self._caution = caution
        self._open: dict[str, _Open] = {}

    async def refusal(self, act: Act, *, call_id: str, asker: Asker) -> str | None:
        """None when the act may be done; else the sentence for the model. Waits for the person.

        Cancelling the wait takes the question back.
        """
        verdict = await self._judge(act, asker)
        if verdict == "allow":
            if act.caution:
                self._caution(act)
            return None
        if verdict == "refuse":
            return READ_ONLY
        if not self.has_person:
            return NOBODY
        return await self._ask(act, call_id=call_id, asker=asker)

    async def _ask(self, about: Act | Circle, *, call_id: str, asker: Asker) -> str | None:
        question = Question(self._new_id(), asker.tab_id, call_id, about, self._now_ms())
        answered: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._open[question.id] = _Open(question, asker, answered)
        asker.changed()
        try:
            return await answered
        finally:
            self._open.pop(question.id, None)
            asker.changed()

    async def denial(self, circle: Circle, *, call_id: str, asker: Asker) -> str | None:
        """None when the circle may go on; else what the person says to it, '' for just no.

        Waits for the person, whom there must be (`has_person`). Cancelling takes it back.
        """
        return await self._ask(circle, call_id=call_id, asker=asker)

    def questions(self, tab_id: str) -> tuple[Question, ...]:
        """The open questions of a conversation, in the order they were asked."""
        return tuple(
            one.question
            for one in self._open.values()
            if one.question.tab_id == tab_id and not one.answered.done()
        )

    async def answer(self, question_id: str, answer: Answer) -> None:
        """Answers a question; one that is no longer open: a no-op.

        Raises StoreError when an "always" could not be kept; the act itself is then allowed once.
        """
        found = self._open.get(question_id)
        if found is None or found.answered.done():
            return
        about = found.question.about
        if answer.choice == "deny":
            why = answer.why.strip()
            found.answered.set_result(why if isinstance(about, Circle) else _denial(why))
            return
        found.answered.set_result(None)
        await self._keep_rule(answer, about, found.asker.workspace_id)

    async def _keep_rule(self, answer: Answer, act: Act | Circle, workspace_id: int) -> None:
        if isinstance(act, Circle):
            return
        if answer.choice == "always" and act.offer and not act.outside:
            await self._rules.add_rule(Rule(workspace_id, act.tool, act.offer))
            await self.judge_again(workspace_id)

    async def judge_again(self, workspace_id: int) -> None:
        """Judges the open questions of a workspace anew: a rule or a mode has changed."""
        for one in list(self._open.values()):
            act = one.question.about
            if one.asker.workspace_id != workspace_id or isinstance(act, Circle):
                continue
            verdict = await self._judge(act, one.asker)
            if one.answered.done() or verdict == "ask":
                continue
            one.answered.set_result(None if verdict == "allow" else READ_ONLY)

    async def _judge(self, act: Act, asker: Asker) -> str:
        try:
            rules = await self._rules.rules(asker.workspace_id)
        except StoreError:
            rules = frozenset[Rule]()  # nothing is known, so nothing is covered
        return judge(act, mode=asker.mode(), rules=rules, workspace_id=asker.workspace_id)


def _denial(why: str) -> str:
    return f"{DENIED} They say: {why}" if why else DENIED
