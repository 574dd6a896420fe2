"""
Generates an image and writes it as a PNG file.

    python examples/picture.py [--model sdxl] [--size 1024x1024] "a red circle on blue" picture.png
"""

from __future__ import annotations

import argparse
import base64
from pathlib import Path

from atoll_client import Atoll, AtollError


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="default: the operator's")
    parser.add_argument("--size", help="width x height; default: the model's own")
    parser.add_argument("--seed", type=int, help="the same seed gives the same picture")
    parser.add_argument("prompt")
    parser.add_argument("file", type=Path)
    args = parser.parse_args()
    with Atoll() as atoll:
        images = atoll.images.generate(prompt=args.prompt, model=args.model, size=args.size, seed=args.seed)
    picture = base64.b64decode(images["data"][0]["b64_json"])
    args.file.write_bytes(picture)
    print(f"{args.file}: {len(picture)} bytes")


if __name__ == "__main__":
    try:
        main()
    except AtollError as error:
        raise SystemExit(f"{error.code}: {error}") from None
    except OSError as error:
        raise SystemExit(str(error)) from None
