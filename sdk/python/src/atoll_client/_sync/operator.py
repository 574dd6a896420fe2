# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack
from uuid import uuid4

from .. import operations as o
from .. import schemas as s
from .http import Http
from .jobs import JobStatus
from .pages import Pages


class OperatorAccounts:
    """Accounts, as operators see them."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        search: str | None = None,
        role: str | None = None,
        suspended: bool | None = None,
        page_size: int = 100,
    ) -> Pages[s.KnownAccount]:
        """Newest first."""
        text = None if suspended is None else "true" if suspended else "false"
        query = {"limit": page_size, "search": search, "role": role, "suspended": text}
        return Pages(self._http, o.LIST_ACCOUNTS, query)

    def get(self, account_id: str) -> s.KnownAccountDetail:
        return (self._http.call(o.GET_KNOWN_ACCOUNT, account_id))["data"]

    def set_limits(self, account_id: str, **limits: Unpack[s.SetAccountLimits]) -> s.AccountLimits:
        """None restores a default."""
        return (self._http.call(o.SET_ACCOUNT_LIMITS, account_id, body=limits))["data"]

    def grant(
        self, account_id: str, credits: float, *, note: str | None = None, idempotency_key: str | None = None
    ) -> float:
        """The account's credits after it. Negative credits are taken back, with a note that the account sees. Safe to retry after a cut connection: a repeat grants nothing more."""
        headers = {"idempotency-key": idempotency_key or str(uuid4())}
        body: s.GrantCredits = {"credits": credits}
        if note is not None:
            body["note"] = note
        call = self._http.call(o.GRANT_CREDITS, account_id, body=body, headers=headers, is_idempotent=True)
        return (call)["data"]["credits"]

    def suspend(self, account_id: str, reason: str) -> s.KnownAccountDetail:
        """`reason` is told to the account. Its streams, jobs and Islands' sessions end everywhere within a second."""
        return (self._http.call(o.SUSPEND_ACCOUNT, account_id, body={"reason": reason}))["data"]

    def reinstate(self, account_id: str) -> s.KnownAccountDetail:
        return (self._http.call(o.REINSTATE_ACCOUNT, account_id))["data"]


class OperatorIslands:
    """The Islands of all accounts, as operators see them."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        search: str | None = None,
        account: str | None = None,
        status: str | None = None,
        page_size: int = 100,
    ) -> Pages[s.KnownIsland]:
        """Last seen first. `account`: its id."""
        query = {"limit": page_size, "search": search, "account": account, "status": status}
        return Pages(self._http, o.LIST_NETWORK_ISLANDS, query)

    def get(self, island_id: str) -> s.KnownIslandDetail:
        return (self._http.call(o.GET_NETWORK_ISLAND, island_id))["data"]

    def suspend(self, island_id: str, reason: str) -> None:
        """Its jobs go to other Islands at once; its owner is told the reason."""
        self._http.call(o.SUSPEND_ISLAND, island_id, body={"reason": reason})

    def reinstate(self, island_id: str) -> None:
        self._http.call(o.REINSTATE_ISLAND, island_id)


class OperatorCargos:
    """All Cargos, and their approval."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self, *, status: str | None = None, page_size: int = 100) -> Pages[s.KnownCargo]:
        """By slug. `waiting`: those that wait for an approval."""
        query = {"limit": page_size, "status": status}
        return Pages(self._http, o.LIST_NETWORK_CARGOS, query, _id_of=lambda cargo: cargo["slug"])

    def get(self, slug: str) -> s.CargoReview:
        """Everything that an approval would sign, as it is now."""
        return (self._http.call(o.GET_CARGO_REVIEW, slug))["data"]

    def review(self, slug: str, **pins: Unpack[s.CargoPins]) -> s.CargoReview:
        """The same with the pin that an approval needs, looked up unless it is given. Changes nothing."""
        return (self._http.call(o.REVIEW_CARGO, slug, body=pins))["data"]

    def approve(self, slug: str, **approval: Unpack[s.ApproveCargo]) -> None:
        """Signs exactly the revision and pin of a review."""
        self._http.call(o.APPROVE_CARGO, slug, body=approval)

    def set_price(self, slug: str, price_per_job: float | None) -> s.CargoReview:
        """What a job of a shipped Cargo costs, in credits; None: the shipped price again. Jobs keep the price of their submission."""
        return (self._http.call(o.SET_CARGO_PRICE, slug, body={"price_per_job": price_per_job}))["data"]

    def disable(self, slug: str) -> None:
        """Switches it off for everybody."""
        self._http.call(o.DISABLE_CARGO, slug)

    def enable(self, slug: str) -> None:
        self._http.call(o.ENABLE_CARGO, slug)


class Operator:
    """What operators see and do. Needs the session token of an operator; a key gets PermissionDeniedError."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self.accounts = OperatorAccounts(http)
        self.cargos = OperatorCargos(http)
        self.islands = OperatorIslands(http)

    def overview(self) -> s.NetworkOverview:
        """The network at a glance, at most a second old."""
        return (self._http.call(o.GET_NETWORK_OVERVIEW))["data"]

    def queue(self) -> s.GetNetworkQueueAnswer:
        """Waiting jobs by Cargo and reason; most jobs first."""
        return self._http.call(o.GET_NETWORK_QUEUE)

    def jobs(
        self,
        *,
        status: Sequence[JobStatus] | None = None,
        workload: str | None = None,
        account: str | None = None,
        island: str | None = None,
        page_size: int = 100,
    ) -> Pages[s.KnownJob]:
        """The jobs of all accounts, newest first."""
        states = None if status is None else ",".join(status)
        query = {"limit": page_size, "status": states, "workload": workload, "account": account, "island": island}
        return Pages(self._http, o.LIST_NETWORK_JOBS, query)

    def audit(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        target: str | None = None,
        page_size: int = 100,
    ) -> Pages[s.AuditLine]:
        """What operators did, newest first. `target`: id of what was acted on."""
        query = {"limit": page_size, "actor": actor, "action": action, "target": target}
        return Pages(self._http, o.LIST_AUDIT_LOG, query)

    def settings(self) -> list[s.SettingInForce]:
        """In force at the coordinator that answers, without secrets."""
        return (self._http.call(o.LIST_SETTINGS))["data"]

    def announce(self, **announcement: Unpack[s.AddAnnouncement]) -> s.Announcement:
        """Tells everybody something."""
        return (self._http.call(o.ADD_ANNOUNCEMENT, body=announcement))["data"]

    def remove_announcement(self, announcement_id: str) -> None:
        self._http.call(o.REMOVE_ANNOUNCEMENT, announcement_id)
