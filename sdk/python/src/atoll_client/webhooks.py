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
"""How old or new a delivery may be: an old one may be a repeat by somebody who has seen it."""


class WebhookError(Exception):
    """The delivery is not the coordinator's, or too old: answer 400 and ignore it."""


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, now: float | None = None
) -> s.JobWebhook | s.BatchWebhook:
    """
    The payload of a delivery, whose signature is checked. `body`: as it was received; `secret`: the `webhook_secret` of the job
    or batch. Source: Standard Webhooks. Raises WebhookError.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        message_id, sent_at, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = abs((time() if now is None else now) - int(sent_at))
    except (KeyError, ValueError, binascii.Error) as error:
        raise WebhookError("A header of the webhook is missing or wrong, or the secret is") from error
    if age > _TOLERANCE_S:
        raise WebhookError("The webhook is too old, or a clock is wrong")
    signed = f"{message_id}.{sent_at}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, "sha256"))
    for signature in signatures.split(" "):
        version, _, given = signature.partition(",")
        if version == "v1" and hmac.compare_digest(given.encode(), expected):
            return cast("s.JobWebhook | s.BatchWebhook", json.loads(body))
    raise WebhookError("The signature of the webhook is wrong")
