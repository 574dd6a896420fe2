from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from atoll_client import Atoll, Backoff

QUICK = Backoff(0.001, 0.005)
"""Short pauses, since the tests count attempts."""
PIECES = ["Hello ", "from ", "afar: é→😀"]
TEXT = "".join(PIECES)


class Bench:
    """Controls test/sdk/python-bench.ts."""

    def __init__(self) -> None:
        self._http = httpx.Client(base_url=os.environ["ATOLL_TEST_CONTROL"], verify=False)

    def script(self, *faults: dict[str, object]) -> None:
        """Sets the faults of the next requests, in order: `Fault` objects of test/sdk/faulty-proxy.ts."""
        self._http.post("/script", content=json.dumps(faults)).raise_for_status()

    def seen(self) -> list[Any]:
        """Returns the requests since the last script."""
        found: list[Any] = self._http.get("/seen").json()
        return found

    def finish(self, job_id: str) -> None:
        self._http.post("/finish", json={"id": job_id}).raise_for_status()


@pytest.fixture(scope="session")
def open_bench() -> Bench:
    return Bench()


@pytest.fixture
def bench(open_bench: Bench) -> Bench:
    open_bench.script()
    return open_bench


@pytest.fixture(scope="session")
def open_atoll() -> Iterator[Atoll]:
    # Reading the machine's certificates takes longer than most tests.
    with Atoll(backoff=QUICK, http_client=httpx.Client(verify=False)) as atoll:
        yield atoll


@pytest.fixture
def atoll(bench: Bench, open_atoll: Atoll) -> Atoll:
    return open_atoll
