from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, cast

from .. import operations as o
from .. import schemas as s
from .http import AsyncHttp
from .pages import AsyncPages


class AsyncAccount:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def get(self) -> s.Account:
        """Returns the caller's account and its credits."""
        return (await self._http.call(o.GET_ACCOUNT))["data"]

    async def update(self, **change: Unpack[s.ChangeAccount]) -> s.ChangeAccountAnswerData:
        """Changes the password, the e-mail address or both. Requires a session token."""
        return (await self._http.call(o.CHANGE_ACCOUNT, body=change))["data"]

    async def confirm_email(self, token: str) -> None:
        """Changes to the new e-mail address with the token that was mailed to it."""
        await self._http.call(o.CONFIRM_EMAIL, body={"token": token})

    async def change_password(self, *, current: str, new: str) -> None:
        """Changes the password and ends all other sessions of the account. Requires a session token."""
        await self._http.call(o.CHANGE_PASSWORD, body={"current": current, "new": new})

    async def delete(self, password: str) -> None:
        """Permanently deletes the account with all inputs and outputs. Requires a session token."""
        await self._http.call(o.DELETE_ACCOUNT, body={"password": password})

    def ledger(self, *, page_size: int = 100) -> AsyncPages[s.LedgerLine]:
        """Lists the changes of the account's credits, newest first."""
        return AsyncPages(self._http, o.LIST_LEDGER, {"limit": page_size})

    def usage(
        self,
        *,
        first_day: str | None = None,
        last_day: str | None = None,
        by: Sequence[Literal["day", "workload", "api_key"]] | None = None,
        kind: str | None = None,
        workload: str | None = None,
        api_key: str | None = None,
        page_size: int = 100,
    ) -> AsyncUsagePages:
        """
        Lists the credits spent and earned by day, newest first. `totals()` returns the sums of all lines. Days are in UTC
        ("2026-01-31"); default: the last 30 days. `by`: members by which lines are grouped, in addition to their kind; default:
        all three.
        """
        query = {
            "from": first_day,
            "to": last_day,
            "by": None if by is None else ",".join(by),
            "kind": kind,
            "workload": workload,
            "api_key": api_key,
            "limit": page_size,
        }
        return AsyncUsagePages(self._http, o.GET_USAGE, query, _id_of=_usage_id)


@dataclass(frozen=True)
class AsyncUsagePages(AsyncPages[s.UsageLine]):
    """Lines of usage."""

    async def totals(self) -> s.GetUsageAnswerMeta:
        """Returns the sums of all lines, not only of one page."""
        return cast(s.GetUsageAnswerMeta, (await self.page(0))["meta"])


def _usage_id(line: s.UsageLine) -> object:
    return (line["kind"], line["day"], line["workload_slug"], line["api_key_id"])


class AsyncApiKeys:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(self) -> list[s.ApiKey]:
        """Lists keys that are not revoked, newest first."""
        return (await self._http.call(o.LIST_API_KEYS))["data"]

    async def create(
        self, *, scopes: Sequence[Literal["read", "write"]] | None = None, **limits: Unpack[s.CreateApiKey]
    ) -> s.CreatedApiKey:
        """Creates a key. The result's `key` is the secret, which cannot be read again. `scopes`: default all of the caller's."""
        body: dict[str, Any] = {**limits}
        if scopes is not None:
            body["scopes"] = ",".join(scopes)
        return await self._http.call(o.CREATE_API_KEY, body=body)

    async def update(self, key_id: str, **change: Unpack[s.ChangeApiKey]) -> s.ApiKey:
        """Changes the name and limits. Omitted members stay; None removes a limit."""
        return (await self._http.call(o.CHANGE_API_KEY, key_id, body=change))["data"]

    async def revoke(self, key_id: str) -> None:
        """Revokes a key. Takes effect at once."""
        await self._http.delete_once(o.REVOKE_API_KEY, key_id)


class AsyncSessions:
    """Sessions of the account. Requires a session token."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(self) -> list[s.AccountSession]:
        """Lists sessions, newest first. `current` marks the caller's session."""
        return (await self._http.call(o.LIST_SESSIONS))["data"]

    async def end(self, session_id: str) -> None:
        """Ends a session. Takes effect at once."""
        await self._http.delete_once(o.END_SESSION, session_id)


class AsyncAuth:
    """Registration, sign-in and passwords, for interactive tools: pass a session's `token` as `api_key`. Programs use API keys."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def register(self, **credentials: Unpack[s.Credentials]) -> s.Session | None:
        """Creates an account and starts a session. Returns None if the address must be verified by e-mail first: see `verify`."""
        data = (await self._http.call(o.REGISTER, body=credentials))["data"]
        return None if "accepted" in data else cast(s.Session, data)

    async def verify(self, **proof: Unpack[s.EmailProof]) -> s.Session:
        """Creates the account whose address the mailed token verifies."""
        return cast(s.Session, (await self._http.call(o.VERIFY_EMAIL, body=proof))["data"])

    async def sign_in(self, **credentials: Unpack[s.Credentials]) -> s.Session:
        """Starts a session. The response has its `token`."""
        return cast(s.Session, (await self._http.call(o.LOGIN, body=credentials))["data"])

    async def sign_out(self) -> None:
        """Ends the client's session."""
        await self._http.call(o.LOGOUT)

    async def forgot_password(self, email: str) -> None:
        """Mails a token to reset the password if the address has an account."""
        await self._http.call(o.REQUEST_PASSWORD_RESET, body={"email": email})

    async def reset_password(self, *, token: str, new: str) -> None:
        """Sets a new password with a reset token. Ends all sessions of the account."""
        await self._http.call(o.RESET_PASSWORD, body={"token": token, "new": new})
