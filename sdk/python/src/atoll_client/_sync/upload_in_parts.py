# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from .. import operations as o
from .. import schemas as s
from ..errors import AtollError, ConfigurationError
from .http import Http, Form

_MIB = 1_048_576
_PART_BYTES = 8 * _MIB
_MAX_PART_BYTES = 64 * _MIB
_MAX_PARTS = 1_000
_PART_TIMEOUT_S = 120.0
"""A part may take as long as the coordinator waits for it."""
_COMPLETE_TIMEOUT_S = 600.0
"""A file is put together at the speed of its disk."""


@dataclass(frozen=True)
class LargeFile:
    """What goes up in parts. `body`: of a new upload; `upload_id`: of one that was begun for this very file."""

    content: bytes | IO[bytes]
    body: s.CreateUpload
    upload_id: str | None
    part_bytes: int | None
    on_upload: Callable[[str, int], None] | None


def upload_in_parts(http: Http, file: LargeFile) -> s.File:
    """Parts one after the other; those that the upload has already are known by their SHA-256 and not sent."""
    source = io.BytesIO(file.content) if isinstance(file.content, bytes) else file.content
    start = source.tell()
    size = source.seek(0, os.SEEK_END) - start
    wanted = file.part_bytes or max(_PART_BYTES, -(-size // _MAX_PARTS))
    if not 1 <= wanted <= _MAX_PART_BYTES:
        raise ConfigurationError(f"part_bytes must be from 1 to {_MAX_PART_BYTES}")
    upload = _open_upload(http, file, size)
    if upload["file"] is not None:
        return upload["file"]
    # The last part is smaller, and comes last.
    part_bytes = max((part["bytes"] for part in upload["parts"]), default=0) or wanted
    arrived = {part["sha256"]: part["id"] for part in upload["parts"]}
    part_ids: list[str] = []
    for position in range(0, size, part_bytes):
        if file.on_upload is not None:
            file.on_upload(upload["id"], position)
        source.seek(start + position)
        content = source.read(min(part_bytes, size - position))
        part_id = arrived.get(hashlib.sha256(content).hexdigest()) if arrived else None
        part_ids.append(part_id or _send_part(http, upload["id"], content))
    done = http.call(
        o.COMPLETE_UPLOAD,
        upload["id"],
        body={"part_ids": part_ids},
        default_timeout=_COMPLETE_TIMEOUT_S,
        is_idempotent=True,
    )
    if done["file"] is None:
        raise AtollError("The upload was completed, and its file deleted since", "not_found")
    return done["file"]


def _open_upload(http: Http, file: LargeFile, size: int) -> s.Upload:
    if file.upload_id is None:
        return http.call(o.CREATE_UPLOAD, body={**file.body, "bytes": size})
    upload = http.call(o.GET_UPLOAD, file.upload_id)
    if upload["bytes"] != size:
        reason = f"Upload {file.upload_id} is of a file of {upload['bytes']} bytes; this one has {size}"
        raise ConfigurationError(reason)
    return upload


def _send_part(http: Http, upload_id: str, content: bytes) -> str:
    form = Form({}, content, "part", field="data")
    part = http.call(
        o.ADD_UPLOAD_PART, upload_id, form=form, default_timeout=_PART_TIMEOUT_S, is_idempotent=True
    )
    return part["id"]
