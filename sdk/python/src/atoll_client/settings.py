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
    """Raises ConfigurationError for a missing address, one that is not http(s), or a key that no header can carry."""
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
    """Errors further down would quote the key, and be tried again."""
    if api_key is not None and re.fullmatch("[!-~]+", api_key) is None:
        reason = "The API key has a character that no key has, such as a space or the end of a line"
        raise ConfigurationError(reason, "configuration")
    return api_key


def _api_url_of(base_url: str | None) -> str:
    if not base_url:
        raise ConfigurationError("No address of a coordinator: pass base_url or set ATOLL_BASE_URL", "configuration")
    try:
        url = urlsplit(base_url)
        # Reading the port checks it.
        is_right = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0 and " " not in url.netloc
    except ValueError:
        is_right = False
    if not is_right:
        reason = f'base_url "{base_url}" must be a URL like https://atoll.example.com'
        raise ConfigurationError(reason, "configuration")
    path = url.path.rstrip("/")
    return f"{url.scheme}://{url.netloc}{path if path.endswith(_API_PATH) else path + _API_PATH}"
