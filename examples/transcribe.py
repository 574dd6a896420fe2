"""
Transcribes a long WAV file. The Island splits it at quiet points, transcribes the parts and joins the texts.

    python examples/transcribe.py [--model whisper-base] meeting.wav

Prints a line per segment with its start time.
"""

from __future__ import annotations

import argparse

from atoll_client import Atoll, AtollError


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="default: the operator's")
    parser.add_argument("--language", help="of the speech, for models of several")
    parser.add_argument("file", help="at most 25 MB")
    args = parser.parse_args()
    try:
        with Atoll() as atoll, open(args.file, "rb") as sound:
            heard = atoll.audio.transcribe(
                sound, model=args.model, language=args.language, response_format="verbose_json"
            )
    except OSError as error:
        raise SystemExit(f"{args.file}: {error}") from None
    except AtollError as error:
        raise SystemExit(f"{args.file}: {error.code}: {error}") from None
    for segment in heard.get("segments") or []:
        start = segment["start"]
        print(f"[{int(start) // 60}:{start % 60:04.1f}] {segment['text'].strip()}")


if __name__ == "__main__":
    main()
