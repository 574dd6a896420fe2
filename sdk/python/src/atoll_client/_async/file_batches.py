from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from .. import operations as o
from .. import schemas as s
from .http import AsyncHttp


class AsyncFileBatches:
    """OpenAI-compatible batches: each line of a JSONL file is a request, and the results are files."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def create(
        self,
        input_file_id: str,
        endpoint: str,
        *,
        metadata: Mapping[str, str] | None = None,
        output_expires_after_s: int | None = None,
    ) -> s.FileBatch:
        """
        Creates a batch over a file with the purpose `batch`. `endpoint`: path of every line, such as `/v1/chat/completions`.
        The call is not retried after a broken connection, because a repeat would create a second batch.
        """
        body: s.CreateFileBatch = {
            "input_file_id": input_file_id,
            "endpoint": endpoint,
            "completion_window": "24h",
        }
        if metadata is not None:
            body["metadata"] = dict(metadata)
        if output_expires_after_s is not None:
            body["output_expires_after"] = {"anchor": "created_at", "seconds": output_expires_after_s}
        return await self._http.call(o.CREATE_FILE_BATCH, body=body)

    async def get(self, batch_id: str) -> s.FileBatch:
        """Returns a batch with `status`, `request_counts` and, once it has ended, the ids of its files."""
        return await self._http.call(o.GET_FILE_BATCH, batch_id)

    async def cancel(self, batch_id: str) -> s.FileBatch:
        """Cancels a batch. The results of finished lines stay in its files. No-op for a batch that has ended."""
        return await self._http.call(o.CANCEL_FILE_BATCH, batch_id, is_idempotent=True)

    async def list(self, *, limit: int | None = None, after: str | None = None) -> AsyncGenerator[s.FileBatch, None]:
        """Iterates over all batches, newest first, loading pages of `limit`."""
        while True:
            page = await self._http.call(o.LIST_FILE_BATCHES, query={"limit": limit, "after": after})
            for batch in page["data"]:
                yield batch
            after = page["last_id"]
            if not page["has_more"] or after is None:
                return
