"""Moves the secrets of a legacy database into the keyring; joins the store and the credentials.

Each is written there, read back and compared before its place in the database gets a reference, so
a kill at any point leaves it in one of the two (PLATFORM §3.3.6). What can't be moved stays where
it is, the person is told once, and the next start tries again. Where there is nothing to move,
the keyring is not touched.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from desktop.core.errors import StoreError
from desktop.core.logged import Word
from desktop.credentials import api_key
from desktop.credentials.keys import Found
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyRefused, KeyringError, Status
from desktop.credentials.store import CALL_SECONDS, SecretStore
from desktop.store import legacy_secrets
from desktop.store.legacy_secrets import LegacySecret
from desktop.store.log import BUSY_MS

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
FindKey = Callable[[str], Awaitable[Found]]
# Cleaning a larger file takes seconds before the log opens, so the person is told.
LARGE = 100_000_000

# The account that a key for the provider is read from when no other server is chosen.
LIVE = api_key.PROVIDERS_OWN.account
_WAYS_OUT = {
    "locked": "Unlock it and start Nacre again: they are moved then.",
    "absent": (
        "Install one (GNOME Keyring or KWallet), or start the one you have, and start Nacre again:"
        " they are moved then."
    ),
}
_TRY_AGAIN = "Nacre tries again at its next start."


async def move_keys(
    database: Path,
    secrets: SecretStore,
    *,
    find: FindKey,
    tell: Callable[[str], None],
    seconds: float = CALL_SECONDS,
    busy_ms: int = BUSY_MS,
) -> str:
    """Moves what waits and cleans the files; a sentence for the person where something stays.

    `find` says which key is in use, wherever it is kept. Begins no new secret after `seconds`;
    `tell` gets a word before what takes long. Never raises for what it finds.
    """
    until = time.monotonic() + seconds
    mover = _Mover(database, secrets, find=find, tell=tell, until=until, busy_ms=busy_ms)
    try:
        return await mover.run()
    except StoreError as error:
        _LOG.warning("the keys of the old database: %s", error)
        return f"Keys of an older database could not be taken out of it. {error} {_TRY_AGAIN}"


class _Mover:
    """One start's try."""

    def __init__(
        self,
        database: Path,
        secrets: SecretStore,
        *,
        find: FindKey,
        tell: Callable[[str], None],
        until: float,
        busy_ms: int,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._find = find
        self._tell = tell
        self._until = until
        self._busy_ms = busy_ms
        self._refused: list[str] = []

    async def run(self) -> str:
        found = await self._file(legacy_secrets.look, self._database)
        if not found.waiting and found.due == "nothing":
            return ""
        began, moved = time.monotonic(), 0
        try:
            for secret in found.waiting:
                if time.monotonic() > self._until:
                    return self._some_wait(len(found.waiting) - moved)
                moved += await self._move(secret)
        except KeyringError as error:
            return self._all_wait(len(found.waiting) - moved, error.status)
        _LOG.info("moved %d keys into the keyring in %.3f s", moved, time.monotonic() - began)
        if self._refused:
            return self._some_refused()
        return await self._clean()

    async def _move(self, secret: LegacySecret) -> bool:
        """Into the keyring, and only then out of the database; False for one that stays."""
        try:
            account = await self._keep(secret)
        except KeyRefused as error:
            self._refused.append(f"{secret.words}: {error.sentence}")
            return False
        await self._file(legacy_secrets.refer, self._database, secret, account)
        return True

    async def _keep(self, secret: LegacySecret) -> str:
        """The account under which the secret has been read back.

        A key for the provider becomes the one that Nacre uses, if it has none; a key that the
        person has entered since stays. Under its own name the legacy value is the latest word.
        """
        account = LIVE if await self._is_wanted(secret) else secret.account
        await self._put(account, secret)
        return account

    async def _is_wanted(self, secret: LegacySecret) -> bool:
        if not _can_be_used(secret):
            return False
        there = await self._secrets.get(LIVE)
        if there not in (None, Secret(secret.kept)):
            return False
        # Behind a key in the encrypted file it would never be used, and go when that one moves.
        in_use = await self._find(LIVE)
        return in_use.problem is None and in_use.place in (None, "keyring")

    async def _put(self, account: str, secret: LegacySecret) -> None:
        if await self._secrets.get(account) != Secret(secret.kept):
            await self._secrets.put(account, Secret(secret.kept))

    # -- afterwards ---------------------------------------------------------------------------

    async def _clean(self) -> str:
        """No secret is left in a row: the old pages, and all this again for each copy."""
        found = await self._file(legacy_secrets.look, self._database)
        if found.waiting:
            return self._some_wait(len(found.waiting))
        if found.due == "pages" and not await self._clean_pages():
            _LOG.info("the pages of %s are cleaned at the next start: it is in use", self._database)
            return ""
        unclean: list[Path] = []
        for copy in await asyncio.to_thread(legacy_secrets.copies_of, self._database):
            try:
                if not await self._clean_copy(copy):
                    unclean.append(copy)
            except (KeyringError, KeyRefused, StoreError) as error:
                _LOG.warning("the keys in %s: %s", copy, error)
                unclean.append(copy)
        if unclean:
            return self._copies_wait(unclean)
        await self._file(legacy_secrets.finish, self._database)
        return ""

    async def _clean_pages(self) -> bool:
        if (await asyncio.to_thread(self._database.stat)).st_size > LARGE:
            self._tell(
                "Keys of an older database are in the system keyring now. Their traces are being"
                f" taken out of {self._database}; for a large file that takes a while."
            )
        return await self._file(legacy_secrets.clean, self._database)

    async def _clean_copy(self, copy: Path) -> bool:
        found = await self._file(legacy_secrets.look, copy)
        if not found.waiting and found.due == "nothing" and found.is_vacuumed:
            return True
        for secret in found.waiting:
            await self._file(legacy_secrets.refer, copy, secret, await self._keep_old(secret, copy))
        return await self._file(legacy_secrets.clean_copy, copy)

    async def _keep_old(self, secret: LegacySecret, copy: Path) -> str:
        """As `_keep`, but an older value overwrites nothing: it gets a name of its own."""
        wanted = Secret(secret.kept)
        if _can_be_used(secret) and await self._secrets.get(LIVE) == wanted:
            return LIVE
        account = secret.account
        if await self._secrets.get(account) not in (None, wanted):
            account = f"{account}.{copy.name}"
        await self._put(account, secret)
        return account

    async def _file(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.to_thread(work, *arguments, busy_ms=self._busy_ms)

    # -- words --------------------------------------------------------------------------------

    def _all_wait(self, count: int, status: Status) -> str:
        _LOG.warning("%d keys wait in %s: %s", count, self._database, Word(status.state))
        return (
            f"{_keys(count)} of an older database can't be moved into the system keyring yet and"
            f" still {'lies' if count == 1 else 'lie'} unprotected in {self._database}."
            f" {status.sentence} {_WAYS_OUT.get(status.state, _TRY_AGAIN)}"
        )

    def _some_wait(self, count: int) -> str:
        _LOG.info("%d keys wait in %s for the next start", count, self._database)
        return (
            f"{_keys(count)} of an older database still"
            f" {'lies' if count == 1 else 'lie'} unprotected in {self._database}: the"
            f" system keyring is slow. {_TRY_AGAIN}"
        )

    def _some_refused(self) -> str:
        return (
            f"The system keyring can't take everything from an older database, so this still lies"
            f" unprotected in {self._database}: {' '.join(self._refused)}"
            " Make such a key anew where it came from; the old one is then worth nothing."
        )

    def _copies_wait(self, unclean: list[Path]) -> str:
        names = ", ".join(str(one) for one in unclean)
        return (
            "The keys of an older database are in the system keyring now, but could not be taken"
            f" out of {names}. {_TRY_AGAIN} If you don't need the file any more, delete it."
        )


def _can_be_used(secret: LegacySecret) -> bool:
    """Whether it is an API key that Nacre itself can send to the provider."""
    if secret.table != "api_keys" or secret.provider.strip().lower() != api_key.PROVIDER:
        return False
    try:
        api_key.validate(secret.text or "")
    except KeyRefused:
        return False
    return True


def _keys(count: int) -> str:
    return "A key" if count == 1 else f"{count} keys"
