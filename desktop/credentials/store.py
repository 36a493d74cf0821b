"""Secrets in one place, the system keyring or the encrypted file, for any asyncio loop.

A keyring call can block for ever (PLATFORM §3.1), so each one runs on a daemon thread and is
waited for with a time limit; a thread that blocks is given up, and another takes its place when
the person tries again. Nothing here shows a prompt except `unlock`, and nothing is written
anywhere but into that place.
"""

import asyncio
import hmac
import importlib
import secrets
import sys
import threading
from collections.abc import Callable
from typing import TypeVar, cast

from desktop.credentials.backend import Backend, OpenBackend
from desktop.credentials.secret import Secret
from desktop.credentials.status import (
    KEYRING,
    KeyRefused,
    KeyringError,
    Status,
    Words,
    closed,
)
from desktop.credentials.worker import Abandoned, Worker

SERVICE = "nacre"
CALL_SECONDS = 5.0
UNLOCK_SECONDS = 120.0
DELETE_LIMIT = 50
CANARY = "self-test"
WINDOWS_LIMIT = 1200
"""Characters; the credential manager takes 2,560 bytes of UTF-16 and keyring does not split."""

T = TypeVar("T")
Step = Callable[[], None]


def open_system() -> Backend:
    """Load the keyring libraries and find the system's keyring; on the worker thread only."""
    # By name, so that importing the store loads neither keyring nor SecretStorage.
    system = importlib.import_module("desktop.credentials.system")
    return cast("Backend", system.open_system_keyring(SERVICE))


def ignore(secret: str) -> None:
    """The default for `forget`: nobody keeps a log."""
    del secret


class SecretStore:
    """Secrets by account name. `status` is the place's state as last seen, None before that.

    `forget` is told every secret that passes, so that the log can leave it out. `words` are the
    place's own; `proves` is off for a place that can't take a secret and not give it back; `limit`
    is the longest secret that it takes, 0 for any.
    """

    def __init__(
        self,
        *,
        open_backend: OpenBackend = open_system,
        words: Words = KEYRING,
        proves: bool = True,
        forget: Callable[[str], None] = ignore,
        call_seconds: float = CALL_SECONDS,
        unlock_seconds: float = UNLOCK_SECONDS,
        limit: int = WINDOWS_LIMIT if sys.platform == "win32" else 0,
    ) -> None:
        self._open_backend = open_backend
        self._words = words
        self._proves = proves
        self._forget = forget
        self._call_seconds = call_seconds
        self._unlock_seconds = unlock_seconds
        self._limit = limit
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._blocked: Worker | None = None
        self._status: Status | None = None
        self._proven = not proves
        self._unlocking = False
        self._closed = False

    @property
    def status(self) -> Status | None:
        return self._status

    def __repr__(self) -> str:
        return f"SecretStore({self._status.state if self._status else 'not looked at'})"

    async def check(self) -> Status:
        """The state of the place now; asks for it even when it was stuck. Never raises, never
        prompts. On first use and after a change of state a canary proves that it keeps and
        gives back what it is given."""

        def job(backend: Backend, go_on: Step) -> None:
            _must_be_ready(backend)
            if not self._proven:
                self._prove(backend, go_on)

        try:
            await self._call(job, self._call_seconds, again=True)
        except KeyringError as error:
            return error.status
        self._proven = True
        return self._words.ready

    async def unlock(self) -> Status:
        """Have the person unlock the keyring, or set it up; waits for the system's window. Never
        raises; may be cancelled at any time."""

        def job(backend: Backend, go_on: Step) -> None:
            backend.unlock()
            go_on()
            _must_be_ready(backend)

        try:
            await self._call(job, self._unlock_seconds, again=True, unlocking=True)
        except KeyringError as error:
            return error.status
        return self._words.ready

    async def get(self, account: str) -> Secret | None:
        """The secret of `account`, None if there is none. Raises KeyringError."""

        def job(backend: Backend, go_on: Step) -> Secret | None:
            _must_be_ready(backend)
            go_on()
            text = backend.get(account)
            return None if text is None else Secret(text)

        found = await self._call(job, self._call_seconds)
        if found is not None:
            self.forget(found)
        return found

    async def put(self, account: str, secret: Secret) -> None:
        """Keep `secret` and prove by reading it back that it is there (SPEC K02).

        Raises KeyRefused for one that can't be kept here, KeyringError when it was not kept; after
        a `stuck` it may have been kept all the same.
        """
        if not secret:
            raise KeyRefused("There is no key to keep.")
        if self._limit and len(secret) > self._limit:
            raise KeyRefused(
                f"This key is longer than the {self._limit} characters that Windows can keep.",
                way_out="Keep it in an encrypted file, or use it for this run only.",
            )
        self.forget(secret)

        def job(backend: Backend, go_on: Step) -> None:
            _must_be_ready(backend)
            if not self._proven:
                self._prove(backend, go_on)
            self._write(backend, account, secret, go_on)

        await self._call(job, self._call_seconds)
        self._proven = True

    async def delete(self, account: str) -> None:
        """Remove every entry of `account`. Raises KeyringError when it could not be cleared."""

        def job(backend: Backend, go_on: Step) -> None:
            _must_be_ready(backend)
            self._clear(backend, account, go_on)

        await self._call(job, self._call_seconds)

    async def do(self, job: Step) -> None:
        """Run what only this kind of place can do, on its thread. Raises KeyringError."""
        await self._call(lambda backend, go_on: job(), self._call_seconds, again=True)

    def forget(self, secret: Secret) -> None:
        """Have the log leave `secret` out."""
        self._forget(secret.reveal())

    def close(self) -> None:
        """End the thread, without waiting for a stuck one."""
        with self._lock:
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.abandon()

    async def _call(
        self,
        job: Callable[[Backend, Step], T],
        seconds: float,
        *,
        again: bool = False,
        unlocking: bool = False,
    ) -> T:
        """Run `job` on the worker within `seconds`. Whatever goes wrong becomes a KeyringError,
        raised anew here: no frame of a backend, which may hold a secret, hangs on it."""
        worker = self._ready_worker(again=again, unlocking=unlocking)
        work = asyncio.wrap_future(worker.submit(lambda: self._attempt(worker, job)))
        try:
            outcome = await asyncio.wait_for(work, seconds)
        except (TimeoutError, Abandoned):
            outcome = self._words.stuck.because(f"no answer within {seconds:g} s")
            self._give_up(worker)
        except asyncio.CancelledError:
            if unlocking:  # the system's window may stay open for ever
                self._drop(worker)
            raise
        finally:
            if unlocking:
                self._unlocking = False
        if isinstance(outcome, Status):
            self._seen(outcome)
            raise KeyringError(outcome)
        self._seen(self._words.ready)
        return outcome[0]

    def _attempt(self, worker: Worker, job: Callable[[Backend, Step], T]) -> tuple[T] | Status:
        """On the worker: the job's result in a tuple, or the status that its failure stands for."""
        backend: Backend | None = None
        try:
            backend = self._open_backend()
            return (job(backend, worker.go_on),)
        except Abandoned:
            return self._words.stuck.because("given up")
        except KeyringError as error:
            return error.status
        except Exception as error:
            if backend is None:
                name = f"{type(error).__module__}.{type(error).__qualname__}"
                return self._words.broken.because(name)
            return backend.explain(error)

    def _ready_worker(self, *, again: bool, unlocking: bool) -> Worker:
        with self._lock:
            if self._closed:
                raise KeyringError(closed())
            if self._unlocking:
                raise KeyringError(self._words.waiting)
            if self._blocked is not None and self._blocked.is_running and not again:
                raise KeyringError(self._words.stuck.because("the last call still waits"))
            if self._worker is None:
                self._worker = Worker("nacre-keyring")
            self._unlocking = unlocking
            return self._worker

    def _give_up(self, worker: Worker) -> None:
        with self._lock:
            self._blocked = worker
        self._drop(worker)

    def _drop(self, worker: Worker) -> None:
        with self._lock:
            if self._worker is worker:
                self._worker = None
        worker.abandon()

    def _seen(self, status: Status) -> None:
        if self._status is not None and status.state != self._status.state:
            self._proven = not self._proves
        if status.state != "stuck":  # it answers again, whatever the old thread still waits for
            self._blocked = None
        self._status = status

    def _prove(self, backend: Backend, go_on: Step) -> None:
        """Set, read back and delete a canary under an account of its own; raises KeyringError.

        Its name is always the same, so that one which a killed process left goes with the next.
        Where another process is at it in this moment, a name that nobody else has decides.
        """
        try:
            self._prove_under(CANARY, backend, go_on)
        except KeyringError:
            self._prove_under(f"{CANARY}-{secrets.token_hex(8)}", backend, go_on)

    def _prove_under(self, account: str, backend: Backend, go_on: Step) -> None:
        canary = Secret(secrets.token_hex(16))
        go_on()
        try:
            backend.set(account, canary.reveal())
            came_back = backend.get(account)
        finally:
            self._clear(backend, account, go_on)
        if not _same(came_back, canary):
            raise KeyringError(self._words.forgetful.because("the test entry did not come back"))

    def _write(self, backend: Backend, account: str, secret: Secret, go_on: Step) -> None:
        """Set and compare; a foreign entry of the same name can hide ours, so on a mismatch all of
        them go and it is tried once more."""
        for is_last in (False, True):
            go_on()
            backend.set(account, secret.reveal())
            go_on()
            if _same(backend.get(account), secret):
                return
            if not is_last:
                self._clear(backend, account, go_on)
        raise KeyringError(self._words.forgetful.because("the entry came back changed"))

    def _clear(self, backend: Backend, account: str, go_on: Step) -> None:
        """Delete entry after entry until none is found; raises KeyringError if one stays."""
        for _ in range(DELETE_LIMIT):
            go_on()
            if not backend.delete(account):
                break
        go_on()
        if backend.get(account) is not None:
            raise KeyringError(self._words.clinging)


def _must_be_ready(backend: Backend) -> None:
    status = backend.look()
    if status.state != "ready":
        raise KeyringError(status)


def _same(text: str | None, secret: Secret) -> bool:
    if text is None:
        return False
    return hmac.compare_digest(text.encode("utf-8"), secret.reveal().encode("utf-8"))
