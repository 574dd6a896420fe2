"""Tests of `AsyncAtoll` only: concurrent calls and cancellation. The sync client is generated from it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from conftest import QUICK, TEXT, Bench

from atoll_client import AsyncAtoll, AtollTimeoutError, JobFailedError
from atoll_client.schemas import ChatCompletionRequestMessagesItem

CARGO = "tiny-chat"


def test_calls_run_concurrently(bench: Bench) -> None:
    async def main() -> None:
        async with AsyncAtoll(backoff=QUICK) as atoll:
            runs = [atoll.jobs.run(workload=CARGO, input={"prompt": str(n)}, timeout=60) for n in range(5)]
            jobs = await asyncio.gather(*runs)
            assert [job["output"] for job in jobs] == [TEXT] * 5
            bench.script({"kind": "cut", "afterBytes": 150})
            events = [event async for event in atoll.jobs.stream(jobs[0]["id"])]
            assert "".join(event["content"] for event in events if event["type"] == "token") == TEXT
            chat = atoll.chat.text(model=CARGO, messages=[{"role": "user", "content": "Hi"}])
            assert "".join([piece async for piece in chat]) == TEXT
            assert len([job async for job in atoll.jobs.list(page_size=2, offset=1)]) >= 4

    asyncio.run(main())


def test_cancelling_ends_a_wait_and_a_stream(bench: Bench) -> None:
    async def main() -> None:
        async with AsyncAtoll(backoff=QUICK) as atoll:
            held = (await atoll.jobs.submit(workload=CARGO, input={"prompt": "hold"}))["id"]
            with pytest.raises(AtollTimeoutError):
                await atoll.jobs.wait(held, timeout=0.2)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(atoll.jobs.wait(held), 0.2)
            text = ""
            async with aclosing(atoll.jobs.stream(held)) as events:
                async for event in events:
                    if event["type"] == "token":
                        if text == "":
                            bench.finish(held)
                        text += event["content"]
            assert text == TEXT

    asyncio.run(main())


def test_cancelling_a_chat_cancels_its_job(bench: Bench) -> None:
    async def main() -> None:
        async with AsyncAtoll(backoff=QUICK) as atoll:
            held: ChatCompletionRequestMessagesItem = {"role": "user", "content": "hold"}

            async def read() -> None:
                async for _ in atoll.chat.stream(model=CARGO, messages=[held]):
                    pass

            for chat in (read(), atoll.chat.create(model=CARGO, messages=[held])):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(chat, 0.3)
                job = (await atoll.jobs.list().page())["data"][0]
                with pytest.raises(JobFailedError):
                    await atoll.jobs.wait(job["id"], timeout=20)

    asyncio.run(main())
