from __future__ import annotations

from typing import Unpack

from .. import operations as o
from .. import schemas as s
from .http import AsyncHttp
from .pages import AsyncPages


class AsyncCargos:
    """Catalog of Cargos that jobs can run. Reading it does not require an API key."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(self, *, category: str | None = None, runtime_type: str | None = None) -> list[s.Cargo]:
        """Lists enabled and approved Cargos, sorted by slug."""
        query = {"category": category, "runtime_type": runtime_type}
        return (await self._http.call(o.LIST_CARGOS, query=query))["cargos"]

    async def availability(self) -> s.ListAvailabilityAnswer:
        """Returns the Cargos that Islands can run now. All other Cargos are left out."""
        return await self._http.call(o.LIST_AVAILABILITY)

    async def get(self, slug: str) -> s.CargoDetail:
        """Returns a Cargo with the JSON Schema of its input and an example."""
        return (await self._http.call(o.GET_CARGO, slug))["data"]

    def list_own(self, *, page_size: int = 20) -> AsyncPages[s.OwnedCargo]:
        """Lists the caller's Cargos with their approval, sorted by slug."""
        return AsyncPages(self._http, o.LIST_OWN_CARGOS, {"limit": page_size}, _id_of=lambda cargo: cargo["slug"])

    async def create(self, cargo: s.CreateCargo) -> s.OwnedCargo:
        """Creates a Cargo, which only its owner can see and run until the operator approves it."""
        return (await self._http.call(o.CREATE_CARGO, body=cargo))["data"]

    async def update(self, slug: str, **change: Unpack[s.ChangeCargo]) -> s.OwnedCargo:
        """Changes the given fields. Changing approved fields removes the approval."""
        return (await self._http.call(o.CHANGE_CARGO, slug, body=change))["data"]

    async def delete(self, slug: str) -> None:
        """Deletes a Cargo. Its waiting jobs fail at no cost."""
        await self._http.delete_once(o.DELETE_CARGO, slug)
