from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import IO, Literal

from .. import operations as o
from .. import schemas as s
from .http import AsyncHttp, Form

UPLOAD_TIMEOUT_S = 120.0
"""Timeout of uploads: the time that the coordinator waits for them."""

Purpose = Literal["assistants", "batch", "batch_output", "evals", "fine-tune", "user_data", "vision"]


class AsyncFiles:
    """Files for large inputs and outputs, on the coordinator's disk."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def upload(
        self,
        content: bytes | IO[bytes],
        *,
        filename: str,
        purpose: Purpose = "user_data",
        expires_after_s: int | None = None,
    ) -> s.File:
        """
        Uploads a file. An open file is read from its beginning. `expires_after_s`: lifetime, from 3,600 s to 30 days; default: the
        coordinator's. The call is not retried after a broken connection, because a repeat would create a second file.
        """
        fields: dict[str, str | list[str]] = {"purpose": purpose}
        if expires_after_s is not None:
            fields["expires_after[anchor]"] = "created_at"
            fields["expires_after[seconds]"] = str(expires_after_s)
        form = Form(fields, content, filename)
        return await self._http.call(o.UPLOAD_FILE, form=form, default_timeout=UPLOAD_TIMEOUT_S)

    async def get(self, file_id: str) -> s.File:
        return await self._http.call(o.GET_FILE, file_id)

    async def content(self, file_id: str) -> bytes:
        return await self._http.content(o.GET_FILE_CONTENT, file_id, default_timeout=UPLOAD_TIMEOUT_S)

    async def list(
        self,
        *,
        purpose: Purpose | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> AsyncGenerator[s.File, None]:
        """Iterates over all files, loading pages of `limit`. Default order: newest first."""
        while True:
            query = {"purpose": purpose, "order": order, "limit": limit, "after": after}
            page = await self._http.call(o.LIST_FILES, query=query)
            for file in page["data"]:
                yield file
            after = page["last_id"]
            if not page["has_more"] or after is None:
                return

    async def delete(self, file_id: str) -> None:
        """Deletes a file. It can no longer be read when this returns. Raises NotFoundError."""
        await self._http.delete_once(o.DELETE_FILE, file_id)
