"""The door to the running agents: what a person, the command line or a test can ask of them."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from desktop.core.permissions import Answer, PermissionMode
from desktop.core.status import QueuedMessage, TabStatus


class Commands(Protocol):
    """What a person, the command line or a test can ask of the running agents."""

    def status(self, tab_id: str) -> TabStatus: ...

    async def open(self, tab_id: str) -> TabStatus:
        """Loads a conversation's state (repairing what a crash left) without running anything."""
        ...

    async def send(
        self, tab_id: str, text: str, attachments: Sequence[Mapping[str, object]] = ()
    ) -> None:
        """Starts a turn, or queues the message while one runs. Durable when it returns.

        An attachment is a text, or a picture or document as `core.media` has it, with its bytes as
        `content` where they are not kept yet.

        Raises LeaseHeld, ModelUnavailable, StoreError, InBin: then nothing was sent and nothing is
        lost. An archived conversation comes out of the archive.
        """
        ...

    async def stop(self, tab_id: str) -> None:
        """Ends the running turn and those of its subagents; returns when they are over (within
        two seconds); idle: a no-op."""
        ...

    async def stop_all(self) -> None:
        """Ends every running turn of the program; returns when all are over (SPEC U28)."""
        ...

    async def cancel_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None: ...

    async def edit_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None:
        """The message, and the queue is kept back until `put_queued`; None when it was sent."""
        ...

    async def put_queued(
        self,
        tab_id: str,
        message_id: str,
        text: str | None = None,
        attachments: Sequence[Mapping[str, object]] = (),
    ) -> bool:
        """Ends an edit: the message is another in its place, or as it was (None), and the queue
        goes as it would have gone. Whether the message still waited. Raises as `send`.
        """
        ...

    async def order_queued(self, tab_id: str, message_ids: Sequence[str]) -> None:
        """The messages that wait go out in this order; those not named come after these."""
        ...

    async def release_queue(self, tab_id: str) -> None:
        """Sends a held queue as a new turn."""
        ...

    async def answer(self, question_id: str, answer: Answer) -> None:
        """Answers a question; one that is no longer open: a no-op."""
        ...

    async def choose(
        self,
        tab_id: str,
        *,
        model: str | None = None,
        effort: str | None = None,
        mode: PermissionMode | None = None,
    ) -> None: ...

    # Each of these stops the turns that run there first (SPEC P05), then does what Catalogue says.
    # Where another living process works, LeaseHeld says which and where, and nothing is stopped.
    # Messages that wait stay, and are held.

    async def archive_tab(self, tab_id: str) -> None: ...

    async def archive_workspace(self, workspace_id: int) -> None: ...

    async def archive_project(self, project_id: int) -> None: ...

    async def trash_tab(self, tab_id: str) -> None: ...

    async def fork(self, tab_id: str, *, at_seq: int) -> str:
        """A fork set to the same model, effort and mode; its tab id. Nothing is stopped."""
        ...

    async def edit(
        self,
        tab_id: str,
        chunk_id: str,
        text: str,
        attachments: Sequence[Mapping[str, object]] | None = None,
    ) -> str:
        """Sends another text in place of a user row; the tab it was sent in (SPEC S13, U19).

        Its attachments go along where none are named.

        An unanswered text at the end is retracted in place; an answered one stays as it is and a
        fork from before it gets the text. Raises as `send`.
        """
        ...

    async def regenerate(self, tab_id: str, chunk_id: str) -> str:
        """Sends the same user text again in a fork from before it; the fork's tab id."""
        ...

    async def retry(self, tab_id: str) -> None:
        """After a failed or cut turn: retracts its partial rows and sends the same bytes again."""
        ...

    async def try_now(self, tab_id: str) -> None:
        """Sends a request that waits to go out again at once; while none waits: a no-op."""
        ...

    async def go_on(self, tab_id: str) -> None:
        """After an answer that was cut: asks for the rest of it with a message of the person's.

        A no-op where there is none. Raises as `send`.
        """
        ...

    async def compact(self, tab_id: str, instruction: str = "") -> None:
        """Begins to summarise what the model was told; `instruction` says what must be kept.

        It runs as a turn does (`stop` ends it, messages wait); what hinders it is the status'
        `problem`, and then nothing is changed. Raises as `send`, and while a turn runs.
        """
        ...

    async def take_tools(self, tab_id: str) -> None:
        """Has the conversation go on with the tools of the moment; the next message pays for it.

        Durable when it returns; nothing new to tell: a no-op. Raises as `send`, and while a turn
        runs.
        """
        ...
