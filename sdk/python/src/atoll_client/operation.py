from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

A = TypeVar("A", covariant=True)


@dataclass(frozen=True)
class Operation(Generic[A]):
    """An operation of the API, whose response has the type `A`."""

    method: str
    path: str
    """Path below /api/v1, with `{…}` as placeholders."""
    is_public: bool = False
    """Whether the operation can be called without a credential."""

    @property
    def is_idempotent(self) -> bool:
        return self.method in ("GET", "DELETE")
