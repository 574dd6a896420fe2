from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Mapping
from time import time
from typing import cast

from . import schemas as s

_TOLERANCE_S = 5 * 60
"""Maximum age of a delivery, and of its lead over the local clock. Prevents replays of old deliveries."""


class WebhookError(Exception):
    """Raised for a delivery that is too old or not from the coordinator. Respond with 400 and ignore it."""


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, now: float | None = None
) -> s.JobWebhook | s.BatchWebhook:
    """
    Checks the signature of a delivery and returns its payload. `body`: the unchanged bytes. `secret`: the `webhook_secret` of the
    job or batch. Source: Standard Webhooks. Raises WebhookError.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        message_id, sent_at, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = abs((time() if now is None else now) - int(sent_at))
    except (KeyError, ValueError, binascii.Error) as error:
        raise WebhookError("Missing or invalid webhook header, or invalid secret") from error
    if age > _TOLERANCE_S:
        raise WebhookError("The webhook's timestamp is more than 5 minutes off: it is too old, or a clock is wrong")
    signed = f"{message_id}.{sent_at}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, "sha256"))
    for signature in signatures.split(" "):
        version, _, given = signature.partition(",")
        if version == "v1" and hmac.compare_digest(given.encode(), expected):
            return cast("s.JobWebhook | s.BatchWebhook", json.loads(body))
    raise WebhookError("Invalid webhook signature")
