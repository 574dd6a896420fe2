"""
Writes down a long WAV file. Its parts are cut where it is quiet, and written down four at a time.

    python examples/transcribe.py [--model whisper-base] [--window 5] meeting.wav

Prints a line for each part, with the time at which it begins.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
import wave
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from atoll_client import AsyncAtoll, AtollError

PART_BYTES = 180_000
"""Most bytes of a part's sound: a job's input has at most 256 KB, in base64."""
STEP_S = 0.05
"""How long a piece is whose loudness is measured."""
AT_ONCE = 4
"""An account has a limit of open streams (5 by default)."""


@dataclass(frozen=True)
class Part:
    begins_s: float
    content: bytes
    """A WAV file of its own."""


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="default: the operator's")
    parser.add_argument("--language", help="of the speech, for models of several")
    parser.add_argument("--window", type=float, default=5, help="most seconds of a part")
    parser.add_argument("file")
    args = parser.parse_args()
    if args.window < 1:
        parser.error("--window must be at least 1")
    places = asyncio.Semaphore(AT_ONCE)
    async with AsyncAtoll() as atoll:

        async def write_down(part: Part) -> str:
            async with places:
                answer = await atoll.audio.transcribe(part.content, model=args.model, language=args.language)
            return f"[{int(part.begins_s) // 60}:{part.begins_s % 60:04.1f}] {answer['text'].strip()}"

        try:
            with wave.open(args.file) as sound:
                lines = [asyncio.create_task(write_down(part)) for part in parts_of(sound, args.window)]
            for line in lines:
                print(await line, flush=True)
        except (OSError, wave.Error, ValueError) as error:
            raise SystemExit(f"{args.file}: {error}") from None
        except AtollError as error:
            raise SystemExit(f"{error.code}: {error}") from None


def parts_of(sound: wave.Wave_read, window_s: float) -> Iterator[Part]:
    """Raises ValueError for a file that is not of 16 bit."""
    if sound.getsampwidth() != 2:
        raise ValueError("must be of 16 bit: ffmpeg -i … -ac 1 -ar 16000 sound.wav")
    rate, frame_bytes = sound.getframerate(), 2 * sound.getnchannels()
    most = min(int(window_s * rate), PART_BYTES // frame_bytes)
    while frames := sound.readframes(most):
        begins = sound.tell() - len(frames) // frame_bytes
        if sound.tell() < sound.getnframes():
            kept = quietest(frames, int(STEP_S * rate), frame_bytes)
            frames = frames[: kept * frame_bytes]
            sound.setpos(begins + kept)
        yield Part(begins / rate, wav_of(sound, frames))


def quietest(sound: bytes, step: int, frame_bytes: int) -> int:
    """The frame around which the second half is quietest, by pieces of `step` frames; of equal ones the last."""
    frames = len(sound) // frame_bytes
    places = range(frames - step, frames // 2, -step)
    return min(places, key=lambda at: loudness(sound[at * frame_bytes : (at + step) * frame_bytes])) + step // 2


def loudness(frames: bytes) -> int:
    samples = array("h", frames)
    if sys.byteorder == "big":
        samples.byteswap()
    return sum(abs(sample) for sample in samples)


def wav_of(sound: wave.Wave_read, frames: bytes) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setparams(sound.getparams())
        written.writeframes(frames)
    return file.getvalue()


if __name__ == "__main__":
    asyncio.run(main())
