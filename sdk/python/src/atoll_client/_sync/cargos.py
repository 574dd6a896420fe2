# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from typing import Unpack

from .. import operations as o
from .. import schemas as s
from .http import Http
from .pages import Pages


class Cargos:
    """The catalog of Cargos that jobs can run. Reading it needs no key."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self, *, category: str | None = None, runtime_type: str | None = None) -> list[s.Cargo]:
        """Enabled and approved Cargos, by slug."""
        query = {"category": category, "runtime_type": runtime_type}
        return (self._http.call(o.LIST_CARGOS, query=query))["cargos"]

    def availability(self) -> s.ListAvailabilityAnswer:
        """Which Cargos Islands can run now. Those that none can are left out."""
        return self._http.call(o.LIST_AVAILABILITY)

    def get(self, slug: str) -> s.CargoDetail:
        """A Cargo with the JSON Schema of its input and an example."""
        return (self._http.call(o.GET_CARGO, slug))["data"]

    def list_own(self, *, page_size: int = 20) -> Pages[s.OwnedCargo]:
        """The caller's own Cargos, by slug, with their approval."""
        return Pages(self._http, o.LIST_OWN_CARGOS, {"limit": page_size}, _id_of=lambda cargo: cargo["slug"])

    def create(self, cargo: s.CreateCargo) -> s.OwnedCargo:
        """Creates a Cargo, which only its owner can see and run until the operator approves it."""
        return (self._http.call(o.CREATE_CARGO, body=cargo))["data"]

    def update(self, slug: str, **change: Unpack[s.ChangeCargo]) -> s.OwnedCargo:
        """Changes the given fields. A change of what was approved removes the approval."""
        return (self._http.call(o.CHANGE_CARGO, slug, body=change))["data"]

    def delete(self, slug: str) -> None:
        """Deletes a Cargo; its waiting jobs fail and cost nothing."""
        self._http.delete_once(o.DELETE_CARGO, slug)
