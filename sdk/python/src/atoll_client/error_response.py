from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any

from .errors import (
    AtollError,
    AuthenticationError,
    FieldError,
    InsufficientCreditsError,
    JobFailedError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    ServiceUnavailableError,
    ValidationError,
)

_MAX_QUOTED_CHARS = 200
_CLASSES: Mapping[int, type[AtollError]] = {
    400: ValidationError,
    401: AuthenticationError,
    402: InsufficientCreditsError,
    403: PermissionDeniedError,
    404: NotFoundError,
    413: ValidationError,
    422: ValidationError,
    429: RateLimitError,
    503: ServiceUnavailableError,
}


def parse_error_response(status: int, headers: Mapping[str, str], text: str) -> AtollError:
    """Returns the error for a failed response. `text` is the body, which may come from a proxy."""
    facts = _read_error(text)
    code = _text(facts.get("code")) or f"http_{status}"
    retry_after_s = parse_retry_after(headers.get("retry-after"))
    retry_after = facts.get("retry_after")
    # Ignores text, negative numbers and NaN.
    if retry_after_s is None and isinstance(retry_after, (int, float)) and retry_after >= 0:
        retry_after_s = float(retry_after)
    return _class_of(status, code)(
        message=_text(facts.get("message")) or f"{status} {text[:_MAX_QUOTED_CHARS]}".strip(),
        code=code,
        status=status,
        details=_read_details(facts.get("details")),
        retry_after_s=retry_after_s,
        request_id=headers.get("x-request-id") or _text(facts.get("request_id")),
        facts=facts,
    )


def _class_of(status: int, code: str) -> type[AtollError]:
    if code == "job_failed":
        return JobFailedError
    if status >= 500:
        return _CLASSES.get(status, ServerError)
    return _CLASSES.get(status, AtollError)


def parse_retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Parses a Retry-After header into seconds; a date counts from now. None if absent or invalid."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return float(max(0, ceil((at - (now or datetime.now(timezone.utc))).total_seconds())))


def _read_error(text: str) -> dict[str, Any]:
    """Returns `error` of the body; empty if the body is not from a coordinator."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        # The body is a page of a proxy. Only the status is useful.
        return {}
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _read_details(value: object) -> list[FieldError]:
    if not isinstance(value, list):
        return []
    return [
        {"path": _text(detail.get("path")) or "", "message": _text(detail.get("message")) or ""}
        for detail in value
        if isinstance(detail, dict)
    ]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value != "" else None
