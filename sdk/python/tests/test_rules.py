"""Tests without a connection."""

from __future__ import annotations

import base64
import hmac
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import get_args, get_type_hints

import httpx
import pytest

from atoll_client import (
    Atoll,
    AtollConnectionError,
    AtollError,
    Backoff,
    ConfigurationError,
    InsufficientCreditsError,
    JobFailedError,
    RateLimitError,
    ServerError,
    ValidationError,
    WebhookError,
    events,
    operations,
    schemas,
    verify_webhook,
)
from atoll_client.error_response import parse_error_response, parse_retry_after
from atoll_client.retries import Retries, retry_delay_s
from atoll_client.sse import EventParser, ServerEvent

SOURCES = Path(__file__).parents[1] / "src" / "atoll_client"
TYPESCRIPT = Path(__file__).parents[2] / "typescript" / "src"


def test_all_operations_of_the_typescript_client_have_a_method() -> None:
    source = "".join(path.read_text() for path in TYPESCRIPT.rglob("*.ts"))
    wanted = {(m.upper(), path) for m, path in re.findall(r'\.(?:call|events)\(\s*"(\w+)",\s*"([^"]+)"', source)}
    assert len(wanted) > 50
    source = "".join(path.read_text() for path in (SOURCES / "_async").glob("*.py"))
    called = [getattr(operations, name) for name in re.findall(r"\bo\.([A-Z_]+)", source)]
    assert wanted - {(operation.method, operation.path) for operation in called} == set()


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events_are_read_from_pieces_of_any_size(size: int) -> None:
    stream = "\ufeff: hi\nid: 1\nevent: token\ndata: é→😀\n\nid: 2\r\ndata: a\r\ndata:b\r\n\r\nid:3\rdata\r\rdata: cut".encode()
    parser = EventParser()
    read = [event for at in range(0, len(stream), size) for event in parser.push(stream[at : at + size])]
    assert read == [ServerEvent("1", "token", "é→😀"), ServerEvent("2", "", "a\nb"), ServerEvent("3", "", "")]


def test_retry_after_is_a_number_or_a_date() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=timezone.utc)
    assert parse_retry_after("7", now) == 7
    assert parse_retry_after("Thu, 01 Jan 2026 12:00:09 GMT", now) == 9
    assert parse_retry_after("Thu, 01 Jan 2026 11:00:00 GMT", now) == 0
    assert parse_retry_after("soon", now) is None
    assert parse_retry_after(None, now) is None


def test_errors_have_the_facts_of_the_response() -> None:
    wrong = parse_error_response(422, {"x-request-id": "r1"}, '{"error":{"code":"c","message":"m","details":[{"path":"a"}]}}')
    assert isinstance(wrong, ValidationError)
    assert (str(wrong), wrong.code, wrong.request_id) == ("m", "c", "r1")
    assert wrong.details == [{"path": "a", "message": ""}]
    limited = parse_error_response(429, {"retry-after": "3"}, '{"error":{"limit":"concurrent_jobs"}}')
    assert isinstance(limited, RateLimitError)
    assert (limited.limit, limited.retry_after_s) == ("concurrent_jobs", 3)
    poor = parse_error_response(402, {}, '{"error":{"required_credits":5,"balance_credits":1.5}}')
    assert isinstance(poor, InsufficientCreditsError)
    assert (poor.required_credits, poor.balance_credits, poor.renews_at) == (5, 1.5, None)
    failed = parse_error_response(503, {}, '{"error":{"code":"job_failed","job_error":"model_unavailable","retryable":true}}')
    assert isinstance(failed, JobFailedError)
    assert (failed.job_error, failed.retryable) == ("model_unavailable", True)
    page = parse_error_response(502, {}, "<html>Bad Gateway")
    assert type(page) is ServerError
    assert (page.code, str(page)) == ("http_502", "502 <html>Bad Gateway")
    for wrong_time in ("-5", "NaN", '"soon"'):
        assert parse_error_response(429, {}, f'{{"error":{{"retry_after":{wrong_time}}}}}').retry_after_s is None
    assert parse_error_response(500, {}, "[" * 100_000).code == "http_500"


def test_all_events_of_the_api_are_known() -> None:
    for known, all_events in (
        (events._JOB_EVENTS, schemas.JobEvent),
        (events._ACCOUNT_EVENTS, schemas.AccountEvent),
    ):
        kinds = [get_type_hints(getattr(schemas, name))["type"] for name in str(all_events).split(" | ")]
        assert {value for kind in kinds for value in get_args(kind)} == known


def test_pauses_double_up_to_the_maximum_with_jitter() -> None:
    backoff = Backoff(0.5, 8)
    assert [retry_delay_s(n, None, backoff, 1) for n in (1, 2, 5, 9, 5000)] == [0.5, 1, 8, 8, 8]
    assert retry_delay_s(1, None, backoff, 0) == 0.25
    assert retry_delay_s(3, 20, backoff, 0) == 20


def make_error(status: int, code: str = "", retry_after_s: float | None = None) -> AtollError:
    error = parse_error_response(status, {}, "")
    error.code = code or error.code
    error.retry_after_s = retry_after_s
    return error


@pytest.mark.parametrize(
    ("error", "repeats", "repeats_idempotent"),
    [
        (make_error(429), True, True),
        (make_error(429, retry_after_s=61), False, False),
        (make_error(503, "shutting_down"), True, True),
        (make_error(503), True, True),
        (make_error(503, "no_island_available"), False, True),
        (AtollConnectionError("cut", "connection"), False, True),
        (make_error(502), False, True),
        (make_error(500), False, False),
        (make_error(404), False, False),
    ],
    ids=str,
)
def test_retries_calls_without_effect_and_idempotent_calls(
    error: AtollError, repeats: bool, repeats_idempotent: bool
) -> None:
    for is_idempotent, expected in ((False, repeats), (True, repeats_idempotent)):
        retries = Retries(1, Backoff(), is_idempotent)
        if expected:
            assert retries.pause_after(error) >= 0
        with pytest.raises(AtollError):
            retries.pause_after(error)


def test_an_address_is_required_and_may_have_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATOLL_BASE_URL", raising=False)
    for wrong in (None, "", "atoll.example", "ftp://atoll.example", "http://atoll:99999", "http://atoll:a", "http://[::1"):
        with pytest.raises(ConfigurationError):
            Atoll(wrong)
    monkeypatch.setenv("ATOLL_BASE_URL", "https://atoll.example/net/api/v1/")
    with Atoll() as atoll:
        assert atoll._http.settings.api_url == "https://atoll.example/net/api/v1"


@pytest.mark.parametrize("key", ["ak_secret\n", "ak_secret é", "ak_secret\0"])
def test_an_invalid_key_is_not_quoted(key: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Atoll("http://atoll.example", key)
    assert "secret" not in str(raised.value)
    with Atoll("http://atoll.example", "ak_right") as atoll, pytest.raises(ConfigurationError):
        atoll.with_options(api_key=key)


def test_a_missing_key_is_reported_before_any_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATOLL_API_KEY", raising=False)
    with Atoll("http://127.0.0.1:9", max_retries=0) as atoll:
        with pytest.raises(ConfigurationError, match="GET /account requires an API key"):
            atoll.account.get()
        with pytest.raises(AtollConnectionError, match="The connection to http://127.0.0.1:9/api/v1 failed"):
            atoll.health()
    for client in (httpx.Client(headers={"X-Api-Key": "ak_own"}), httpx.Client(auth=("user", "own"))):
        with Atoll("http://127.0.0.1:9", max_retries=0, http_client=client) as atoll:
            with pytest.raises(AtollConnectionError):
                atoll.account.get()


def test_a_webhook_is_verified() -> None:
    secret = b"0123456789abcdef01234567"
    body = b'{"type":"job.completed"}'

    def sign(at: int, content: bytes) -> dict[str, str]:
        signature = base64.b64encode(hmac.digest(secret, f"msg_1.{at}.".encode() + content, "sha256")).decode()
        return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(at), "Webhook-Signature": f"v1,AAAA v1,{signature}"}

    text = "whsec_" + base64.b64encode(secret).decode()
    assert verify_webhook(body, sign(1_000, body), text, now=1_100)["type"] == "job.completed"
    cases: list[tuple[dict[str, str], int]] = [(sign(1_000, b"{}"), 1_100), (sign(1_000, body), 1_301), ({}, 1_000)]
    for headers, now in cases:
        with pytest.raises(WebhookError):
            verify_webhook(body, headers, text, now=now)
