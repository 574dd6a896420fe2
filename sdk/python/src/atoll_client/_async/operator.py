from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack
from uuid import uuid4

from .. import operations as o
from .. import schemas as s
from .http import AsyncHttp
from .jobs import JobStatus
from .pages import AsyncPages


class AsyncOperatorAccounts:
    """Accounts, for operators."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    def list(
        self,
        *,
        search: str | None = None,
        role: str | None = None,
        suspended: bool | None = None,
        page_size: int = 100,
    ) -> AsyncPages[s.KnownAccount]:
        """Lists accounts, newest first."""
        text = None if suspended is None else "true" if suspended else "false"
        query = {"limit": page_size, "search": search, "role": role, "suspended": text}
        return AsyncPages(self._http, o.LIST_ACCOUNTS, query)

    async def get(self, account_id: str) -> s.KnownAccountDetail:
        return (await self._http.call(o.GET_KNOWN_ACCOUNT, account_id))["data"]

    async def set_limits(self, account_id: str, **limits: Unpack[s.SetAccountLimits]) -> s.AccountLimits:
        """Sets limits. None restores a default."""
        return (await self._http.call(o.SET_ACCOUNT_LIMITS, account_id, body=limits))["data"]

    async def grant(
        self, account_id: str, credits: float, *, note: str | None = None, idempotency_key: str | None = None
    ) -> float:
        """
        Grants credits and returns the account's balance. A negative number takes credits back, and requires a note that the account sees.
        The call is retried after a broken connection, and a repeat does not grant the credits again.
        """
        headers = {"idempotency-key": idempotency_key or str(uuid4())}
        body: s.GrantCredits = {"credits": credits}
        if note is not None:
            body["note"] = note
        call = self._http.call(o.GRANT_CREDITS, account_id, body=body, headers=headers, is_idempotent=True)
        return (await call)["data"]["credits"]

    async def suspend(self, account_id: str, reason: str) -> s.KnownAccountDetail:
        """Suspends an account. `reason` is shown to its owner. Its streams, jobs and Island sessions end everywhere within a second."""
        return (await self._http.call(o.SUSPEND_ACCOUNT, account_id, body={"reason": reason}))["data"]

    async def reinstate(self, account_id: str) -> s.KnownAccountDetail:
        return (await self._http.call(o.REINSTATE_ACCOUNT, account_id))["data"]


class AsyncOperatorIslands:
    """Islands of all accounts, for operators."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    def list(
        self,
        *,
        search: str | None = None,
        account: str | None = None,
        status: str | None = None,
        page_size: int = 100,
    ) -> AsyncPages[s.KnownIsland]:
        """Lists Islands, the most recently seen first. `account`: id of an account."""
        query = {"limit": page_size, "search": search, "account": account, "status": status}
        return AsyncPages(self._http, o.LIST_NETWORK_ISLANDS, query)

    async def get(self, island_id: str) -> s.KnownIslandDetail:
        return (await self._http.call(o.GET_NETWORK_ISLAND, island_id))["data"]

    async def suspend(self, island_id: str, reason: str) -> None:
        """Suspends an Island. Its jobs go to other Islands at once. The owner sees the reason."""
        await self._http.call(o.SUSPEND_ISLAND, island_id, body={"reason": reason})

    async def audit(self, island_id: str) -> Sequence[str]:
        """Audits the latest jobs of an Island again. Returns the ids of the jobs."""
        return (await self._http.call(o.AUDIT_ISLAND, island_id))["data"]["jobs"]

    async def reinstate(self, island_id: str) -> None:
        await self._http.call(o.REINSTATE_ISLAND, island_id)


class AsyncOperatorCargos:
    """All Cargos and their approval, for operators."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    def list(self, *, status: str | None = None, page_size: int = 100) -> AsyncPages[s.KnownCargo]:
        """Lists Cargos, sorted by slug. `status="waiting"`: only Cargos that wait for approval."""
        query = {"limit": page_size, "status": status}
        return AsyncPages(self._http, o.LIST_NETWORK_CARGOS, query, _id_of=lambda cargo: cargo["slug"])

    async def add(self, **model: Unpack[s.AddModel]) -> s.AddedModel:
        """Adds a GGUF model of the hub or of Ollama's library for all accounts. `dry_run=True` only previews it."""
        return (await self._http.call(o.ADD_MODEL, body=model))["data"]

    async def get(self, slug: str) -> s.CargoReview:
        """Returns everything that an approval would sign."""
        return (await self._http.call(o.GET_CARGO_REVIEW, slug))["data"]

    async def review(self, slug: str, **pins: Unpack[s.CargoPins]) -> s.CargoReview:
        """Returns everything that an approval would sign, with its pin: the given pin, or the pin that a lookup returns. Does not change anything."""
        return (await self._http.call(o.REVIEW_CARGO, slug, body=pins))["data"]

    async def approve(self, slug: str, **approval: Unpack[s.ApproveCargo]) -> None:
        """Approves a Cargo by signing exactly the revision and pin of a review."""
        await self._http.call(o.APPROVE_CARGO, slug, body=approval)

    async def set_price(self, slug: str, price_per_job: float | None) -> s.CargoReview:
        """Sets the price per job of a shipped Cargo, in credits; None restores the shipped price. Jobs keep the price that applied when they were submitted."""
        return (await self._http.call(o.SET_CARGO_PRICE, slug, body={"price_per_job": price_per_job}))["data"]

    async def disable(self, slug: str) -> None:
        """Disables a Cargo for all accounts."""
        await self._http.call(o.DISABLE_CARGO, slug)

    async def enable(self, slug: str) -> None:
        await self._http.call(o.ENABLE_CARGO, slug)


class AsyncOperator:
    """Operations for operators. They require the session token of an operator; an API key gets PermissionDeniedError."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http
        self.accounts = AsyncOperatorAccounts(http)
        self.cargos = AsyncOperatorCargos(http)
        self.islands = AsyncOperatorIslands(http)

    async def overview(self) -> s.NetworkOverview:
        """Returns an overview of the network, at most a second old."""
        return (await self._http.call(o.GET_NETWORK_OVERVIEW))["data"]

    async def queue(self) -> s.GetNetworkQueueAnswer:
        """Returns the number of waiting jobs by Cargo and reason, the largest first."""
        return await self._http.call(o.GET_NETWORK_QUEUE)

    def jobs(
        self,
        *,
        status: Sequence[JobStatus] | None = None,
        workload: str | None = None,
        account: str | None = None,
        island: str | None = None,
        page_size: int = 100,
    ) -> AsyncPages[s.KnownJob]:
        """Lists jobs of all accounts, newest first."""
        states = None if status is None else ",".join(status)
        query = {"limit": page_size, "status": states, "workload": workload, "account": account, "island": island}
        return AsyncPages(self._http, o.LIST_NETWORK_JOBS, query)

    def standings(
        self, *, account: str | None = None, state: str | None = None, page_size: int = 100
    ) -> AsyncPages[s.KnownStanding]:
        """Lists the standings of owners with Cargos, the latest change first. `account`: id of an account."""
        query = {"limit": page_size, "account": account, "state": state}
        return AsyncPages(
            self._http, o.LIST_STANDINGS, query, _id_of=lambda each: f"{each['account_id']}/{each['cargo']}"
        )

    async def set_standing(self, account_id: str, cargo: str, **standing: Unpack[s.SetStanding]) -> s.KnownStanding:
        """Sets the standing of an owner with a Cargo. The owner sees the reason."""
        return (await self._http.call(o.SET_STANDING, account_id, cargo, body=standing))["data"]

    async def audit_job(self, job_id: str) -> None:
        """Audits an ended job again, or for the first time. `verification` of the job has the verdict."""
        await self._http.call(o.AUDIT_JOB, job_id)

    def audit(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        target: str | None = None,
        page_size: int = 100,
    ) -> AsyncPages[s.AuditLine]:
        """Lists the audit log of operators' actions, newest first. `target`: id of the target of the action."""
        query = {"limit": page_size, "actor": actor, "action": action, "target": target}
        return AsyncPages(self._http, o.LIST_AUDIT_LOG, query)

    async def settings(self) -> list[s.SettingInForce]:
        """Lists the settings in force at the coordinator that responds, without secrets."""
        return (await self._http.call(o.LIST_SETTINGS))["data"]

    async def announce(self, **announcement: Unpack[s.AddAnnouncement]) -> s.Announcement:
        """Publishes an announcement to all users."""
        return (await self._http.call(o.ADD_ANNOUNCEMENT, body=announcement))["data"]

    async def remove_announcement(self, announcement_id: str) -> None:
        await self._http.call(o.REMOVE_ANNOUNCEMENT, announcement_id)
