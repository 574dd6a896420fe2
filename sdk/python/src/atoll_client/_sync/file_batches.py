# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator, Mapping

from .. import operations as o
from .. import schemas as s
from .http import Http


class FileBatches:
    """Batches over JSONL files, in OpenAI's shape: each line is a request, and the results are files."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(
        self,
        input_file_id: str,
        endpoint: str,
        *,
        metadata: Mapping[str, str] | None = None,
        output_expires_after_s: int | None = None,
    ) -> s.FileBatch:
        """
        Begins a batch over a file with the purpose `batch`. `endpoint`: of every line, as in `/v1/chat/completions`. A repeat after a cut
        connection would make a second one, so there is none.
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
        return self._http.call(o.CREATE_FILE_BATCH, body=body)

    def get(self, batch_id: str) -> s.FileBatch:
        """How far it is: `status`, `request_counts`, and at the end the ids of its files."""
        return self._http.call(o.GET_FILE_BATCH, batch_id)

    def cancel(self, batch_id: str) -> s.FileBatch:
        """Lines that were answered stay in its files. One that has ended stays as it is."""
        return self._http.call(o.CANCEL_FILE_BATCH, batch_id, is_idempotent=True)

    def list(self, *, limit: int | None = None, after: str | None = None) -> Generator[s.FileBatch, None, None]:
        """All batches, newest first, page by page while you iterate, `limit` in a page."""
        while True:
            page = self._http.call(o.LIST_FILE_BATCHES, query={"limit": limit, "after": after})
            for batch in page["data"]:
                yield batch
            after = page["last_id"]
            if not page["has_more"] or after is None:
                return
