"""Typed clients for Atoll coordinators: `Atoll` blocks, `AsyncAtoll` is for asyncio and trio. Both have the same methods."""

from ._async.atoll import AsyncAtoll
from ._async.pages import AsyncPages, Page, PageMeta
from ._sync.atoll import Atoll
from ._sync.pages import Pages
from .errors import (
    AtollConnectionError,
    AtollError,
    AtollTimeoutError,
    AuthenticationError,
    ConfigurationError,
    FieldError,
    InsufficientCreditsError,
    JobFailedError,
    NotFoundError,
    PermissionDeniedError,
    ProtocolError,
    RateLimitError,
    ServerError,
    ServiceUnavailableError,
    ValidationError,
)
from .events import AnswerEvent, JobStreamEvent, OfflineEvent, RestartEvent, ToldEvent, event_id_of
from .retries import Backoff
from .webhooks import WebhookError, verify_webhook

__all__ = [
    "AnswerEvent",
    "AsyncAtoll",
    "AsyncPages",
    "Atoll",
    "AtollConnectionError",
    "AtollError",
    "AtollTimeoutError",
    "AuthenticationError",
    "Backoff",
    "ConfigurationError",
    "FieldError",
    "InsufficientCreditsError",
    "JobFailedError",
    "JobStreamEvent",
    "NotFoundError",
    "OfflineEvent",
    "Page",
    "PageMeta",
    "Pages",
    "PermissionDeniedError",
    "ProtocolError",
    "RateLimitError",
    "RestartEvent",
    "ServerError",
    "ServiceUnavailableError",
    "ToldEvent",
    "ValidationError",
    "WebhookError",
    "event_id_of",
    "verify_webhook",
]
