from __future__ import annotations

import os
import re
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
    """Address of the API, without a final slash."""
    api_key: str | None
    timeout: float | None
    """Time limit of one attempt; None uses the default of each call."""
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
    """Fills in all defaults. Raises ConfigurationError for a missing or invalid address, or a key that is invalid in a header."""
    return Settings(
        api_url=_api_url_of(base_url or os.environ.get("ATOLL_BASE_URL")),
        api_key=checked_key(api_key or os.environ.get("ATOLL_API_KEY") or None),
        timeout=timeout,
        max_retries=max_retries,
        backoff=backoff,
        stream_idle=stream_idle,
        headers=dict(headers or {}),
    )


def checked_key(api_key: str | None) -> str | None:
    """Checks the key. httpx would quote an invalid key in its error, and the call would be retried."""
    if api_key is not None and re.fullmatch("[!-~]+", api_key) is None:
        reason = "The API key contains an invalid character, such as a space or a line break"
        raise ConfigurationError(reason, "configuration")
    return api_key


def _api_url_of(base_url: str | None) -> str:
    if not base_url:
        raise ConfigurationError("The coordinator's address is missing. Pass base_url or set ATOLL_BASE_URL", "configuration")
    try:
        url = urlsplit(base_url)
        # Reading `port` validates it.
        is_right = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0 and " " not in url.netloc
    except ValueError:
        is_right = False
    if not is_right:
        reason = f'base_url "{base_url}" must be a URL like https://atoll.example.com'
        raise ConfigurationError(reason, "configuration")
    path = url.path.rstrip("/")
    return f"{url.scheme}://{url.netloc}{path if path.endswith(_API_PATH) else path + _API_PATH}"
