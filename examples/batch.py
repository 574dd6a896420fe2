"""
Runs one job per line of a JSONL file, and writes the outputs in the same order.

    python examples/batch.py [--cargo tiny-chat] inputs.jsonl outputs.jsonl

A line is a Cargo's input, such as {"prompt": "What is 7 plus 8?"}.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from atoll_client import AsyncAtoll, AtollError

BATCH = 100
"""Maximum jobs of a batch. If the account's limit of unfinished jobs is lower, the client waits when it is reached."""


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cargo", default="tiny-chat")
    parser.add_argument("--batch", type=int, default=BATCH, help="jobs in one request, 1 to 100")
    parser.add_argument("inputs", type=Path)
    parser.add_argument("outputs", type=Path)
    args = parser.parse_args()
    inputs = inputs_of(args.inputs)
    failed = 0
    async with AsyncAtoll() as atoll:
        with args.outputs.open("w") as outputs:
            while part := list(islice(inputs, args.batch)):
                for result in await run(atoll, args.cargo, part):
                    failed += result["error"] is not None
                    outputs.write(json.dumps(result, ensure_ascii=False) + "\n")
    if failed:
        raise SystemExit(f"{failed} jobs failed; their lines have an error")


def inputs_of(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as lines:
        for number, line in enumerate(lines, 1):
            try:
                if line.strip():
                    yield json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{path}, line {number}: {error}") from None


async def run(atoll: AsyncAtoll, cargo: str, inputs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Returns the results of one batch, in the order of its inputs."""
    submitted = await atoll.batches.submit(workload=cargo, inputs=inputs)
    ended = await atoll.batches.wait(submitted["id"])
    jobs = await asyncio.gather(*[atoll.jobs.get(job["id"]) for job in ended["jobs"]])
    return ({"input": job["input"], "output": job["output"], "error": job["error"]} for job in jobs)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except AtollError as error:
        raise SystemExit(f"{error.code}: {error}") from None
    except OSError as error:
        raise SystemExit(str(error)) from None
