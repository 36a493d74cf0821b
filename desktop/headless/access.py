"""How this program reaches a model: the endpoint and key in force, and what changes them.

Joins credentials (which key, from where) and wire (who answers). The only place that holds a key
between the two; it is revealed to the transport at the last moment.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from desktop import settings
from desktop.core.access import AccessState, KeyPlace, KeySource
from desktop.core.catalogue import Catalogue
from desktop.core.errors import ModelUnavailable, SettingError
from desktop.core.events import Failure
from desktop.core.model import Model, ModelInfo
from desktop.credentials import api_key
from desktop.credentials.api_key import Credential, Endpoint
from desktop.credentials.keys import Keys
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyringError
from desktop.headless.upload_notes import UploadNotes
from desktop.settings import BASE_URL
from desktop.wire.client import AnthropicModel
from desktop.wire.endpoint import Endpoint as Server
from desktop.wire.models import ModelTable
from desktop.wire.pictures import Pictures, Read, nothing_kept
from desktop.wire.replay import MODEL as TOUR_MODEL
from desktop.wire.replay import ReplayModel
from desktop.wire.transport import Transport
from desktop.wire.uploads import Uploads

NO_KEY = "No key is set, so no model can be asked."
ENTER_ONE = (
    "Enter one in Settings → Access, or set the variable ANTHROPIC_API_KEY before you start."
)
ASKING = "The place where your key is kept has not answered yet, so no model can be asked."
LOCKED = {
    "file": "Your keys are in an encrypted file, which is locked, so no model can be asked.",
    "keyring": "The system keyring is locked, so no key can be had and no model be asked.",
}
UNLOCK = "Choose Unlock beside the message field, or in Settings → Access."


@dataclass(frozen=True, slots=True)
class _InForce:
    credential: Credential
    model: AnthropicModel
    problem: str = ""


class LiveAccess:
    """Implements `core.access.Access` and gives the agents their models.

    `load` reads the settings and the key once; until then it is `asking`. `jitter` gives numbers
    from 0 to 1, `content` the bytes of kept pictures and documents; `threads` is whether the person
    lets the provider hold conversations.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        keys: Keys,
        catalogue: Catalogue,
        transport: Transport,
        table: ModelTable,
        tour: ReplayModel,
        jitter: Callable[[], float],
        threads: Callable[[], bool] = lambda: False,
        content: Read = nothing_kept,
    ) -> None:
        self._environment = environment
        self._keys = keys
        self._catalogue = catalogue
        self._transport = transport
        self._table = table
        self._tour = tour
        self._jitter = jitter
        self._threads = threads
        self._upload_notes = UploadNotes(catalogue)
        self._content = content
        self._listed: tuple[ModelInfo, ...] = ()
        self._in_force: _InForce | None = None
        self._checked: tuple[Endpoint, Secret] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._loads = 0

    # -- for the agents -----------------------------------------------------------------------

    def model_for(self, model_id: str) -> Model:
        """Who answers as this model. Raises ModelUnavailable with the way out."""
        if model_id == TOUR_MODEL:
            return self._tour
        if not self.state().ready or self._in_force is None:
            raise self._unavailable()
        return self._in_force.model

    def model_info(self, model_id: str) -> ModelInfo | None:
        """What is known of a model by now."""
        listed = next((info for info in self.known_models() if info.id == model_id), None)
        known = self._table.find(model_id)
        return listed or (known.info if known else None)

    # -- Access -------------------------------------------------------------------------------

    def state(self) -> AccessState:
        if self._in_force is None:
            return AccessState(key_source="asking")
        credential = self._in_force.credential
        endpoint = credential.endpoint
        keyring, key_file = self._keys.keyring_status, self._keys.file_status
        return AccessState(
            key_source=_source(credential),
            base_url="" if endpoint.source == "provider" else endpoint.url,
            base_url_source="" if endpoint.source == "provider" else endpoint.source,
            keyring=keyring.state if keyring else "",
            keyring_sentence=keyring.sentence if keyring else "",
            keyring_way_out=keyring.way_out if keyring else "",
            key_file=key_file.state if key_file else "",
            key_file_sentence=key_file.sentence if key_file else "",
            key_file_way_out=key_file.way_out if key_file else "",
            problem=self._in_force.problem,
        )

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(changed)
        return lambda: self._listeners.remove(changed)

    async def load(self) -> None:
        """Reads endpoint and key anew. Never raises for them: what is wrong becomes the state. One
        that waited for a slow keyring while another was begun changes nothing."""
        self._loads += 1
        this_one = self._loads
        rows = await self._catalogue.settings()
        self._upload_notes.read(rows)
        address = str(settings.read(rows).value(BASE_URL))
        problem = ""
        try:
            endpoint = api_key.choose_endpoint(self._environment, address)
        except SettingError as error:
            endpoint, problem = api_key.choose_endpoint({}, ""), str(error)
        try:
            credential = await api_key.resolve(self._environment, self._keys, endpoint=endpoint)
        except api_key.KeyRefused as error:
            credential, problem = Credential(endpoint, "none"), str(error)
        if this_one != self._loads:
            return
        previous = self._in_force
        if previous is None or (previous.credential, previous.problem) != (credential, problem):
            self._listed = ()
            self._in_force = _InForce(credential, self._model(endpoint, credential), problem)
            if previous is not None:
                await previous.model.close()
        for changed in tuple(self._listeners):
            changed()

    async def look(self) -> None:
        await self._keys.look()
        await self.load()

    async def enter_key(self, key: str, *, keep: KeyPlace = "keyring") -> Failure | None:
        secret = api_key.validate(key)
        endpoint = self._endpoint()
        if self._checked != (endpoint, secret):
            failure = await self._tried(endpoint, secret)
            if failure is not None:
                return failure
            self._checked = (endpoint, secret)
        await self._keys.keep(endpoint.account, secret, place=keep)
        self._checked = None
        await self.load()
        return None

    async def move_key(self, to: KeyPlace) -> None:
        await self._keys.move(self._endpoint().account, place=to)
        await self.load()

    async def unlock_keyring(self) -> None:
        status = await self._keys.unlock_keyring()
        await self.load()
        if status.state != "ready":
            raise KeyringError(status)

    async def unlock_file(self, passphrase: str) -> None:
        await self._keys.unlock_file(Secret(passphrase))
        await self.load()

    async def forget_file(self) -> None:
        await self._keys.remove_file()
        await self.load()

    async def use_server(self, base_url: str) -> Failure | None:
        if base_url:
            endpoint = api_key.choose_endpoint({}, base_url)
            credential = await api_key.resolve({}, self._keys, endpoint=endpoint)
            failure = await self._tried(endpoint, credential.secret)
            if failure is not None:
                return failure
            base_url = endpoint.url
        await self._catalogue.save_setting(BASE_URL.key, base_url or None)
        await self.load()
        return None

    async def forget_key(self) -> None:
        try:
            await self._keys.remove(self._endpoint().account)
        finally:
            await self.load()

    async def check(self) -> Failure | None:
        if self._in_force is None or not self.state().ready:
            raise self._unavailable()
        return await self._in_force.model.check()

    def known_models(self) -> tuple[ModelInfo, ...]:
        return (*(self._listed or self._table.infos()), self._tour.info)

    async def models(self) -> tuple[ModelInfo, ...]:
        if self._in_force is not None and self.state().ready:
            self._listed = await self._in_force.model.models()
        return self.known_models()

    # -- parts --------------------------------------------------------------------------------

    def _unavailable(self) -> ModelUnavailable:
        """Why no model can be asked, and the way out."""
        state = self.state()
        if state.key_source == "asking":
            return ModelUnavailable(ASKING, way_out="Wait a moment and try again.")
        if state.locked:
            return ModelUnavailable(LOCKED[state.locked], way_out=UNLOCK)
        return ModelUnavailable(NO_KEY, way_out=ENTER_ONE)

    def _endpoint(self) -> Endpoint:
        if self._in_force is not None:
            return self._in_force.credential.endpoint
        return api_key.choose_endpoint({}, "")

    async def _tried(self, endpoint: Endpoint, secret: Secret | None) -> Failure | None:
        """One cheap call with a candidate, which is not kept by this."""
        source = "session" if secret else "none"
        model = self._model(endpoint, Credential(endpoint, source, secret))
        try:
            return await model.check()
        finally:
            await model.close()

    def _model(self, endpoint: Endpoint, credential: Credential) -> AnthropicModel:
        secret = credential.secret
        server = Server.at(endpoint.url)
        uploads = Uploads(
            compresses=server.is_provider,
            known=self._upload_notes.known(server.name),
            learned=partial(self._upload_notes.learn, server.name),
        )
        return AnthropicModel(
            self._transport,
            endpoint=server,
            key=secret.reveal if secret else (lambda: ""),
            models=self._table,
            jitter=self._jitter,
            now=time.time,
            uploads=uploads,
            # Another server may ignore what it does not know, and answer the new part alone.
            threads=lambda: server.is_provider and self._threads(),
            pictures=Pictures(self._content),
        )


def _source(credential: Credential) -> KeySource:
    if credential.source == "none" and not credential.endpoint.needs_key:
        return "unneeded"
    return credential.source
