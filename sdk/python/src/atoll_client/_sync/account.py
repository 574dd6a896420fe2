# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, cast

from .. import operations as o
from .. import schemas as s
from .http import Http
from .pages import Pages


class Account:
    def __init__(self, http: Http) -> None:
        self._http = http

    def get(self) -> s.Account:
        """The caller's account and its credits."""
        return (self._http.call(o.GET_ACCOUNT))["data"]

    def update(self, **change: Unpack[s.ChangeAccount]) -> s.ChangeAccountAnswerData:
        """Changes the password, the e-mail address or both. Needs a session token."""
        return (self._http.call(o.CHANGE_ACCOUNT, body=change))["data"]

    def confirm_email(self, token: str) -> None:
        """Sets the address that a mailed token proves."""
        self._http.call(o.CONFIRM_EMAIL, body={"token": token})

    def change_password(self, *, current: str, new: str) -> None:
        """Needs a session token. All other sessions of the account end."""
        self._http.call(o.CHANGE_PASSWORD, body={"current": current, "new": new})

    def delete(self, password: str) -> None:
        """Deletes the account with all prompts and answers, for good. Needs a session token."""
        self._http.call(o.DELETE_ACCOUNT, body={"password": password})

    def ledger(self, *, page_size: int = 100) -> Pages[s.LedgerLine]:
        """Changes of the credits, newest first."""
        return Pages(self._http, o.LIST_LEDGER, {"limit": page_size})

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
    ) -> UsagePages:
        """
        What the account spent and earned, by day, newest first; `totals()` has the sums of all. Days are in UTC ("2026-01-31");
        default: the last 30 days. `by`: what lines are kept apart by, beside their kind; default: all three.
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
        return UsagePages(self._http, o.GET_USAGE, query, _id_of=_usage_id)


@dataclass(frozen=True)
class UsagePages(Pages[s.UsageLine]):
    """Lines of usage."""

    def totals(self) -> s.GetUsageAnswerMeta:
        """The sums of all lines, not only of one page."""
        return cast(s.GetUsageAnswerMeta, (self.page(0))["meta"])


def _usage_id(line: s.UsageLine) -> object:
    return (line["kind"], line["day"], line["workload_slug"], line["api_key_id"])


class ApiKeys:
    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[s.ApiKey]:
        """Keys that are not revoked, newest first."""
        return (self._http.call(o.LIST_API_KEYS))["data"]

    def create(
        self, *, scopes: Sequence[Literal["read", "write"]] | None = None, **limits: Unpack[s.CreateApiKey]
    ) -> s.CreatedApiKey:
        """The result's `key` is the secret, which is never shown again. Default: all scopes that the caller has."""
        body: dict[str, Any] = {**limits}
        if scopes is not None:
            body["scopes"] = ",".join(scopes)
        return self._http.call(o.CREATE_API_KEY, body=body)

    def update(self, key_id: str, **change: Unpack[s.ChangeApiKey]) -> s.ApiKey:
        """Changes the name and the limits: what is left out stays, None removes a limit."""
        return (self._http.call(o.CHANGE_API_KEY, key_id, body=change))["data"]

    def revoke(self, key_id: str) -> None:
        """Takes effect at once."""
        self._http.delete_once(o.REVOKE_API_KEY, key_id)


class Sessions:
    """Sessions of the account: where its owner is signed in. Needs a session token."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[s.AccountSession]:
        """Newest first; `current` is the one that asks."""
        return (self._http.call(o.LIST_SESSIONS))["data"]

    def end(self, session_id: str) -> None:
        """Takes effect at once."""
        self._http.delete_once(o.END_SESSION, session_id)


class Auth:
    """Signing in and out, for tools where people do that: the `token` of a session is an `api_key`. Programs have API keys."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def register(self, **credentials: Unpack[s.Credentials]) -> s.Session | None:
        """Opens an account and begins a session. None where a mail must prove the address first: see `verify`."""
        data = (self._http.call(o.REGISTER, body=credentials))["data"]
        return None if "accepted" in data else cast(s.Session, data)

    def verify(self, **proof: Unpack[s.EmailProof]) -> s.Session:
        """Opens the account whose address the mailed token proves."""
        return cast(s.Session, (self._http.call(o.VERIFY_EMAIL, body=proof))["data"])

    def sign_in(self, **credentials: Unpack[s.Credentials]) -> s.Session:
        """Begins a session, whose `token` is in the answer."""
        return cast(s.Session, (self._http.call(o.LOGIN, body=credentials))["data"])

    def sign_out(self) -> None:
        """Ends the session that the client has."""
        self._http.call(o.LOGOUT)

    def forgot_password(self, email: str) -> None:
        """Has a reset of the password mailed, if the address has an account."""
        self._http.call(o.REQUEST_PASSWORD_RESET, body={"email": email})

    def reset_password(self, *, token: str, new: str) -> None:
        """Sets a new password with the token of a reset. All sessions of the account end."""
        self._http.call(o.RESET_PASSWORD, body={"token": token, "new": new})
