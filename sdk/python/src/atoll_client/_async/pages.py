from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar, cast

from ..operation import Operation
from .http import AsyncHttp

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
class AsyncPages(Generic[T]):
    """
    A list that loads page by page while you iterate. Items that are added at the head of the list during the iteration move
    other items to later pages. Items that were already returned are skipped.
    """

    _http: AsyncHttp
    _operation: Operation[Any]
    _query: Mapping[str, str | int | None]
    _ids: tuple[str, ...] = ()
    _id_of: Callable[[T], object] = lambda item: cast("dict[str, object]", item)["id"]
    _items_of: Callable[[Any], list[T]] = lambda response: cast("list[T]", response["data"])
    _first_offset: int = 0

    async def page(self, offset: int | None = None) -> Page[T]:
        """Returns one page, with `meta["total"]`: the first, or the one that begins after `offset` items."""
        query: dict[str, str | int | None] = {**self._query, "offset": self._first_offset if offset is None else offset}
        response = await self._http.call(self._operation, *self._ids, query=query)
        return {"data": self._items_of(response), "meta": response["meta"]}

    async def pages(self) -> AsyncGenerator[Page[T], None]:
        """Iterates over all pages, with one request for each."""
        offset = self._first_offset
        while True:
            page = await self.page(offset)
            yield page
            offset += len(page["data"])
            if not page["data"] or offset >= page["meta"]["total"]:
                return

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        """Iterates over all items. Each item is returned once."""
        seen: set[object] = set()
        async for page in self.pages():
            for item in page["data"]:
                item_id = self._id_of(item)
                if item_id in seen:
                    continue
                seen.add(item_id)
                yield item
