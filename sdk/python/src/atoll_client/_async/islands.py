from __future__ import annotations

from typing import Literal, Unpack

from .. import operations as o
from .. import schemas as s
from .http import AsyncHttp
from .pages import AsyncPages


class AsyncIslands:
    """Islands of the caller's account."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    def list(
        self, *, status: Literal["online", "offline", "suspended"] | None = None, page_size: int = 100
    ) -> AsyncPages[s.Island]:
        """Lists Islands: the connected Islands first, then the others by the time at which they were last seen."""
        return AsyncPages(self._http, o.LIST_ISLANDS, {"limit": page_size, "status": status})

    async def get(self, island_id: str) -> s.IslandDetail:
        return (await self._http.call(o.GET_ISLAND, island_id))["data"]

    async def rename(self, island_id: str, name: str) -> s.IslandDetail:
        """Renames an Island. An empty name restores the default."""
        return (await self._http.call(o.RENAME_ISLAND, island_id, body={"name": name}))["data"]

    async def remove(self, island_id: str) -> None:
        """Removes and disconnects an Island. To join again, the Island needs a token or pairing code that was created later."""
        await self._http.delete_once(o.REMOVE_ISLAND, island_id)


class AsyncIslandTokens:
    """Tokens with which Islands join the account."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(self) -> list[s.IslandToken]:
        """Lists tokens that are not revoked, newest first."""
        return (await self._http.call(o.LIST_ISLAND_TOKENS))["data"]

    async def create(self, **token: Unpack[s.CreateIslandToken]) -> s.CreateIslandTokenAnswer:
        """Creates a token. The result's `token` is the secret, which cannot be read again."""
        return await self._http.call(o.CREATE_ISLAND_TOKEN, body=token)

    async def create_pairing_code(self, **token: Unpack[s.CreateIslandToken]) -> s.PairingCode:
        """Creates a code for `island join --code`. It can be used once, within ten minutes."""
        return (await self._http.call(o.CREATE_PAIRING_CODE, body=token))["data"]

    async def revoke(self, token_id: str) -> None:
        """Revokes a token and disconnects the Islands that joined with it."""
        await self._http.delete_once(o.REVOKE_ISLAND_TOKEN, token_id)
