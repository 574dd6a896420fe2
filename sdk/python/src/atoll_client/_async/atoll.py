from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Literal

import httpx

from .. import operations as o
from .. import schemas as s
from ..events import ToldEvent
from ..retries import Backoff
from ..settings import Settings, checked_key, resolve_settings
from .account import AsyncAccount, AsyncApiKeys, AsyncAuth, AsyncSessions
from .account_events import stream_events
from .cargos import AsyncCargos
from .chat import AsyncChat, AsyncEmbeddings, AsyncModels, AsyncModerations
from .conversations import AsyncConversations
from .file_batches import AsyncFileBatches
from .files import AsyncFiles
from .http import AsyncHttp
from .islands import AsyncIslands, AsyncIslandTokens
from .jobs import AsyncBatches, AsyncJobs
from .media import AsyncAudio, AsyncImages
from .operator import AsyncOperator

_KEEPALIVE_S = 4.0
"""Below the 5 s after which a coordinator closes an idle connection: a request on a connection that is being closed would be lost."""


class AsyncAtoll:
    """A client of one coordinator. Keeps connections open: use it as a context manager, or call `aclose`."""

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
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """
        `base_url`: origin of the coordinator with its path prefix, default ATOLL_BASE_URL. `api_key`: API key `ak_…` or session
        token `st_…`, default ATOLL_API_KEY. Without a credential, only public endpoints work. `timeout`: seconds that one
        attempt may take, default 60, for chats and embeddings 600. `max_retries`: maximum retries of a call, and consecutive
        reconnects of a stream without progress. `stream_idle`: seconds of silence after which a stream counts as dropped; the
        coordinator writes every 15 s. `headers`: headers that are sent with every request. `http_client`: an httpx client, for
        example with its own proxies or certificates.

        Raises ConfigurationError if the address is missing.
        """
        settings = resolve_settings(base_url, api_key, timeout, max_retries, backoff, stream_idle, headers)
        limits = httpx.Limits(keepalive_expiry=_KEEPALIVE_S)
        self._begin(http_client or httpx.AsyncClient(limits=limits), settings)

    def _begin(self, client: httpx.AsyncClient, settings: Settings) -> None:
        self._http = http = AsyncHttp(client, settings)
        self.account = AsyncAccount(http)
        self.api_keys = AsyncApiKeys(http)
        self.audio = AsyncAudio(http)
        self.auth = AsyncAuth(http)
        self.batches = AsyncBatches(http)
        self.cargos = AsyncCargos(http)
        self.chat = AsyncChat(http)
        self.conversations = AsyncConversations(http)
        self.embeddings = AsyncEmbeddings(http)
        self.file_batches = AsyncFileBatches(http)
        self.files = AsyncFiles(http)
        self.images = AsyncImages(http)
        self.island_tokens = AsyncIslandTokens(http)
        self.islands = AsyncIslands(http)
        self.jobs = AsyncJobs(http)
        self.models = AsyncModels(http)
        self.moderations = AsyncModerations(http)
        self.operator = AsyncOperator(http)
        self.sessions = AsyncSessions(http)

    def with_options(
        self, *, api_key: str | None = None, timeout: float | None = None, max_retries: int | None = None
    ) -> AsyncAtoll:
        """Returns a client with other options on the same connections: `atoll.with_options(timeout=5).jobs.get(…)`."""
        settings = self._http.settings
        other = AsyncAtoll.__new__(AsyncAtoll)
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

    async def announcements(self) -> list[s.Announcement]:
        """Lists the operators' announcements, newest first."""
        return (await self._http.call(o.LIST_ANNOUNCEMENTS))["data"]

    async def downloads(self) -> s.Downloads:
        """Lists the packages that the coordinator serves to hosts and clients, newest version first."""
        return (await self._http.call(o.LIST_DOWNLOADS))["data"]

    def events(
        self,
        *,
        scope: Literal["network"] | None = None,
        max_retries: int | None = None,
    ) -> AsyncGenerator[ToldEvent, None]:
        """
        Streams changes of the account: jobs, Islands, the balance. Reconnects automatically. Each connection begins with
        `reset`. `scope` adds `overview` events, which describe the whole network; only for an operator's session.
        `max_retries`: maximum number of consecutive reconnects without progress; default: no limit.
        """
        return stream_events(self._http, scope, max_retries)

    async def health(self) -> s.Health:
        """Returns the health of the coordinator, even if it is degraded."""
        return await self._http.call(o.GET_HEALTH, accepted_status=503)

    async def network(self) -> s.Network:
        """Returns the public facts of the network. Raises `NotFoundError` if the operator hides them from visitors."""
        return (await self._http.call(o.GET_NETWORK))["data"]

    async def aclose(self) -> None:
        """Closes the connections, including those of clients made by `with_options`."""
        await self._http.client.aclose()

    async def __aenter__(self) -> AsyncAtoll:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
