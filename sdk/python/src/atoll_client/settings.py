from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from .errors import ConfigurationError
from .retries import Backoff

_API_PATH = "/api/v1"


@dataclass(frozen=True)
class Settings:
    """Options with all defaults. Times are in seconds."""

    api_url: str
    """Without a slash at the end."""
    api_key: str | None
    timeout: float | None
    """Time limit of one try; None: the default of each call."""
    max_retries: int
    backoff: Backoff
    stream_idle: float
    headers: Mapping[str, str]


def resolve_settings(
    base_url: str | None,
    api_key: str | None,
    timeout: float | None,
    max_retries: int,
    backoff: Backoff,
    stream_idle: float,
    headers: Mapping[str, str] | None,
) -> Settings:
    """Raises ConfigurationError for a missing address, or one that is not http(s)."""
    return Settings(
        api_url=_api_url_of(base_url or os.environ.get("ATOLL_BASE_URL")),
        api_key=api_key or os.environ.get("ATOLL_API_KEY") or None,
        timeout=timeout,
        max_retries=max_retries,
        backoff=backoff,
        stream_idle=stream_idle,
        headers=dict(headers or {}),
    )


def _api_url_of(base_url: str | None) -> str:
    if not base_url:
        raise ConfigurationError("No address of a coordinator: pass base_url or set ATOLL_BASE_URL", "configuration")
    url = urlsplit(base_url)
    if url.scheme not in ("http", "https") or not url.hostname:
        reason = f'base_url "{base_url}" must be a URL like https://atoll.example.com'
        raise ConfigurationError(reason, "configuration")
    path = url.path.rstrip("/")
    return f"{url.scheme}://{url.netloc}{path if path.endswith(_API_PATH) else path + _API_PATH}"
