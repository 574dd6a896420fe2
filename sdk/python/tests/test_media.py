"""Files, audio and images: requests sent as forms, and responses of bytes."""

from __future__ import annotations

import asyncio
import base64
import io

import pytest
from conftest import QUICK, Bench

from atoll_client import AsyncAtoll, Atoll, AtollError, NotFoundError, ProtocolError, RateLimitError

CONTENT = bytes(range(256)) * 1_000


def test_files_are_uploaded_downloaded_and_listed(atoll: Atoll, bench: Bench) -> None:
    limited: dict[str, object] = {"kind": "respond", "status": 429, "headers": {"retry-after": "0"}}
    bench.script(limited)
    opened = io.BytesIO(CONTENT)
    file = atoll.files.upload(opened, filename="é.bin", expires_after_s=3_600)
    # The second attempt sends the complete file.
    assert len(bench.seen()) == 2
    assert (file["filename"], file["bytes"], file["purpose"]) == ("é.bin", len(CONTENT), "user_data")
    assert (file["expires_at"] or 0) - file["created_at"] == 3_600
    assert atoll.files.get(file["id"]) == file
    bench.script({"kind": "cut", "afterBytes": 1_000})
    assert atoll.files.content(file["id"]) == CONTENT
    more = atoll.files.upload(b"{}", filename="b.jsonl", purpose="batch")
    assert [each["id"] for each in atoll.files.list(limit=1)] == [more["id"], file["id"]]
    assert list(atoll.files.list(purpose="batch")) == [more]
    atoll.files.delete(file["id"])
    with pytest.raises(NotFoundError):
        atoll.files.content(file["id"])
    atoll.files.delete(more["id"])


class Pipe(io.BytesIO):
    """A file that can be read only once."""

    def seekable(self) -> bool:
        return False


def test_a_pipe_is_sent_once_and_a_deletion_is_retried(atoll: Atoll, bench: Bench) -> None:
    bench.script({"kind": "respond", "status": 429, "headers": {"retry-after": "0"}})
    with pytest.raises(RateLimitError):
        atoll.files.upload(Pipe(b"once"), filename="a")
    assert len(bench.seen()) == 1
    file = atoll.files.upload(b"a", filename="a")
    bench.script({"kind": "swallow"})
    atoll.files.delete(file["id"])
    assert len(bench.seen()) == 2
    with pytest.raises(NotFoundError):
        atoll.files.delete(file["id"])


def test_the_async_client_sends_forms() -> None:
    async def main() -> None:
        async with AsyncAtoll(backoff=QUICK) as atoll:
            file = await atoll.files.upload(io.BytesIO(CONTENT), filename="a")
            assert await atoll.files.content(file["id"]) == CONTENT
            assert file["id"] in [each["id"] async for each in atoll.files.list()]
            await atoll.files.delete(file["id"])

    asyncio.run(main())


def test_speech_yields_bytes_and_raises_a_rejection(atoll: Atoll, bench: Bench) -> None:
    bench.script({"kind": "respond", "status": 200, "headers": {"content-type": "audio/mpeg"}, "body": "ID3 sound"})
    assert b"ID3 sound" in b"".join(atoll.audio.speech(input="Hello", voice="default"))
    bench.script({"kind": "respond", "status": 429, "headers": {"retry-after": "61"}})
    with pytest.raises(RateLimitError):
        list(atoll.audio.speech(input="Hello"))


def test_audio_is_sent_as_a_form(atoll: Atoll, bench: Bench) -> None:
    transcript = {"text": "yes", "usage": {"type": "duration", "seconds": 1}}
    scripted: dict[str, object] = {"kind": "respond", "status": 200, "body": transcript}
    bench.script(scripted, scripted)
    assert atoll.audio.transcribe(b"RIFF", response_format="verbose_json", timestamp_granularities=["word"]) == transcript
    assert atoll.audio.translate(b"RIFF", model="tiny-speech") == transcript
    types = [request["headers"]["content-type"] for request in bench.seen()]
    assert [kind.split("=")[0] for kind in types] == ["multipart/form-data; boundary"] * 2


def test_images_are_base64(atoll: Atoll, bench: Bench) -> None:
    image = {"created": 1, "data": [{"b64_json": base64.b64encode(b"PNG").decode()}]}
    bench.script({"kind": "respond", "status": 200, "body": image})
    assert base64.b64decode(atoll.images.generate(prompt="a red circle")["data"][0]["b64_json"]) == b"PNG"
    bench.script({"kind": "respond", "status": 200, "body": "<html>", "headers": {"content-type": "text/html"}})
    with pytest.raises(ProtocolError):
        atoll.images.generate(prompt="a red circle")


def test_file_batches_are_created_listed_and_cancelled(atoll: Atoll) -> None:
    line = '{"custom_id":"a","method":"POST","url":"/v1/embeddings","body":{"model":"none","input":"a"}}\n'
    file = atoll.files.upload(line.encode(), filename="a.jsonl", purpose="batch")
    batch = atoll.file_batches.create(file["id"], "/v1/embeddings", metadata={"run": "1"})
    assert (batch["input_file_id"], batch["endpoint"], batch["metadata"]) == (file["id"], "/v1/embeddings", {"run": "1"})
    assert [each["id"] for each in atoll.file_batches.list(limit=1)] == [batch["id"]]
    assert atoll.file_batches.cancel(batch["id"])["id"] == atoll.file_batches.get(batch["id"])["id"]
