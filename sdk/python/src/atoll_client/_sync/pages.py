# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar, cast

from ..operation import Operation
from .http import Http

T = TypeVar("T")


class PageMeta(TypedDict):
    total: int
    limit: int
    offset: int


class Page(TypedDict, Generic[T]):
    """One page of a list."""

    data: list[T]
    meta: PageMeta


@dataclass(frozen=True)
class Pages(Generic[T]):
    """
    A list that loads page by page while you iterate. Items added at its head meanwhile push others to later pages; iterating
    skips items that it has already returned.
    """

    _http: Http
    _operation: Operation[Any]
    _query: Mapping[str, str | int | None]
    _ids: tuple[str, ...] = ()
    _id_of: Callable[[T], object] = lambda item: cast("dict[str, object]", item)["id"]
    _items_of: Callable[[Any], list[T]] = lambda answer: cast("list[T]", answer["data"])
    _first_offset: int = 0

    def page(self, offset: int | None = None) -> Page[T]:
        """One page, with `meta["total"]`: the first, or the one that begins after `offset` items."""
        query: dict[str, str | int | None] = {**self._query, "offset": self._first_offset if offset is None else offset}
        answer = self._http.call(self._operation, *self._ids, query=query)
        return {"data": self._items_of(answer), "meta": answer["meta"]}

    def pages(self) -> Generator[Page[T], None, None]:
        """All pages, with one request for each."""
        offset = self._first_offset
        while True:
            page = self.page(offset)
            yield page
            offset += len(page["data"])
            if not page["data"] or offset >= page["meta"]["total"]:
                return

    def __iter__(self) -> Generator[T, None, None]:
        """All items, each once."""
        seen: set[object] = set()
        for page in self.pages():
            for item in page["data"]:
                item_id = self._id_of(item)
                if item_id in seen:
                    continue
                seen.add(item_id)
                yield item
