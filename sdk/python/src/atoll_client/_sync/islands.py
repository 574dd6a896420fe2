# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from typing import Literal, Unpack

from .. import operations as o
from .. import schemas as s
from .http import Http
from .pages import Pages


class Islands:
    """The Islands of the caller's account."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self, *, status: Literal["online", "offline", "suspended"] | None = None, page_size: int = 100
    ) -> Pages[s.Island]:
        """Connected ones first, then by when they were last seen."""
        return Pages(self._http, o.LIST_ISLANDS, {"limit": page_size, "status": status})

    def get(self, island_id: str) -> s.IslandDetail:
        return (self._http.call(o.GET_ISLAND, island_id))["data"]

    def rename(self, island_id: str, name: str) -> s.IslandDetail:
        """An empty name restores the default."""
        return (self._http.call(o.RENAME_ISLAND, island_id, body={"name": name}))["data"]

    def remove(self, island_id: str) -> None:
        """Sends the Island away. It comes back only with a token or pairing code that is made later."""
        self._http.delete_once(o.REMOVE_ISLAND, island_id)


class IslandTokens:
    """Tokens with which Islands join the account."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[s.IslandToken]:
        """Tokens that are not revoked, newest first."""
        return (self._http.call(o.LIST_ISLAND_TOKENS))["data"]

    def create(self, **token: Unpack[s.CreateIslandToken]) -> s.CreateIslandTokenAnswer:
        """The result's `token` is the secret, which is never shown again."""
        return self._http.call(o.CREATE_ISLAND_TOKEN, body=token)

    def create_pairing_code(self, **token: Unpack[s.CreateIslandToken]) -> s.PairingCode:
        """A code for `island join --code`, valid for ten minutes and once."""
        return (self._http.call(o.CREATE_PAIRING_CODE, body=token))["data"]

    def revoke(self, token_id: str) -> None:
        """The Islands that joined with the token are sent away."""
        self._http.delete_once(o.REVOKE_ISLAND_TOKEN, token_id)
