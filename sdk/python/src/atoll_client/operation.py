from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

A = TypeVar("A", covariant=True)


@dataclass(frozen=True)
class Operation(Generic[A]):
    """An operation of the API, whose answer has the type `A`."""

    method: str
    path: str
    """Below /api/v1, with `{…}` for what a call fills in."""
    is_public: bool = False
    """It needs no credential."""

    @property
    def is_idempotent(self) -> bool:
        return self.method in ("GET", "DELETE")
