# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Literal

import httpx

from .. import operations as o
from .. import schemas as s
from ..events import ToldEvent
from ..retries import Backoff
from ..settings import Settings, checked_key, resolve_settings
from .account import Account, ApiKeys, Auth, Sessions
from .account_events import stream_events
from .cargos import Cargos
from .chat import Chat, Embeddings, Models, Moderations
from .conversations import Conversations
from .file_batches import FileBatches
from .files import Files
from .http import Http
from .islands import Islands, IslandTokens
from .jobs import Batches, Jobs
from .media import Audio, Images
from .operator import Operator

_KEEPALIVE_S = 4.0
"""Below the 5 s after which a coordinator closes a silent connection: one that is just being closed would lose a request."""


class Atoll:
    """A client of one coordinator. It keeps connections open: use it as a context manager, or call `close`."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float | None = None,
        max_retries: int = 5,
        backoff: Backoff = Backoff(),
        stream_idle: float = 45.0,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """
        `base_url`: origin of the coordinator with its path prefix, default ATOLL_BASE_URL. `api_key`: `ak_…` or a session token
        `st_…`, default ATOLL_API_KEY; without one only public endpoints work. `timeout`: seconds that one try may take, default 60,
        for chats and embeddings 600. `max_retries`: of a call, and reconnects of a stream in a row without progress. A stream that
        is silent for `stream_idle` seconds counts as dropped; the coordinator writes every 15 s. `headers`: sent with every
        request. `http_client`: your own, with its proxies or certificates.

        Raises ConfigurationError without an address.
        """
        settings = resolve_settings(base_url, api_key, timeout, max_retries, backoff, stream_idle, headers)
        limits = httpx.Limits(keepalive_expiry=_KEEPALIVE_S)
        self._begin(http_client or httpx.Client(limits=limits), settings)

    def _begin(self, client: httpx.Client, settings: Settings) -> None:
        self._http = http = Http(client, settings)
        self.account = Account(http)
        self.api_keys = ApiKeys(http)
        self.audio = Audio(http)
        self.auth = Auth(http)
        self.batches = Batches(http)
        self.cargos = Cargos(http)
        self.chat = Chat(http)
        self.conversations = Conversations(http)
        self.embeddings = Embeddings(http)
        self.file_batches = FileBatches(http)
        self.files = Files(http)
        self.images = Images(http)
        self.island_tokens = IslandTokens(http)
        self.islands = Islands(http)
        self.jobs = Jobs(http)
        self.models = Models(http)
        self.moderations = Moderations(http)
        self.operator = Operator(http)
        self.sessions = Sessions(http)

    def with_options(
        self, *, api_key: str | None = None, timeout: float | None = None, max_retries: int | None = None
    ) -> Atoll:
        """The same client with other options, on the same connections: `atoll.with_options(timeout=5).jobs.get(…)`."""
        settings = self._http.settings
        other = Atoll.__new__(Atoll)
        other._begin(
            self._http.client,
            replace(
                settings,
                api_key=settings.api_key if api_key is None else checked_key(api_key),
                timeout=settings.timeout if timeout is None else timeout,
                max_retries=settings.max_retries if max_retries is None else max_retries,
            ),
        )
        return other

    def announcements(self) -> list[s.Announcement]:
        """What the operators tell everybody, newest first."""
        return (self._http.call(o.LIST_ANNOUNCEMENTS))["data"]

    def downloads(self) -> s.Downloads:
        """Packages that the coordinator serves to hosts and clients, newest version first."""
        return (self._http.call(o.LIST_DOWNLOADS))["data"]

    def events(
        self,
        *,
        scope: Literal["network"] | None = None,
        max_retries: int | None = None,
    ) -> Generator[ToldEvent, None, None]:
        """
        What changes for the account: jobs, Islands, the balance. Reconnects by itself; each connection begins with `reset`. `scope`
        adds `overview`, of the whole network; only for an operator's session. `max_retries`: reconnects in a row without progress;
        default: any number.
        """
        return stream_events(self._http, scope, max_retries)

    def health(self) -> s.Health:
        """Health of the coordinator, also of a degraded one."""
        return self._http.call(o.GET_HEALTH, accepted_status=503)

    def network(self) -> s.Network:
        """The network as visitors see it. Raises `NotFoundError` where the operator shows visitors nothing."""
        return (self._http.call(o.GET_NETWORK))["data"]

    def close(self) -> None:
        """Closes the connections, also of clients made by `with_options`."""
        self._http.client.close()

    def __enter__(self) -> Atoll:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
