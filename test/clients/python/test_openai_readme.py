"""Runs each example of the README of the `openai` package, unchanged, against a coordinator with one Island.

`OPENAI_BASE_URL` and `OPENAI_API_KEY` are set, so that `OpenAI()` finds the coordinator. A table in test/clients/README.md lists the exceptions.
"""

import ast
import asyncio
import importlib.metadata
import os
import re
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "test" / "clients" / "README.md"
SPOKEN = ROOT / "test" / "fixtures" / "spoken" / "yes-no-stop.wav"


def examples() -> Iterator[tuple[str, str]]:
    """Yields the heading of each block of Python, with a number if the heading has several blocks, and its code."""
    text = importlib.metadata.metadata("openai").get_payload()
    heading, language, code, seen = "", None, [], {}
    for line in str(text).splitlines():
        if language is None and (found := re.match(r"#+ (.*)$", line)):
            heading = found[1]
        elif language is None and (found := re.match(r"```(\w*)$", line)):
            language, code = found[1], []
        elif language is not None and line == "```":
            if language in ("python", "py"):
                seen[heading] = seen.get(heading, 0) + 1
                yield (heading if seen[heading] == 1 else f"{heading} {seen[heading]}"), "\n".join(code)
            language = None
        elif language is not None:
            code.append(line)


def exceptions() -> set[str]:
    section = DOCUMENT.read_text().split("## README of `openai` (Python)\n")[1].split("\n#")[0]
    names = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    return set(names) - {"Example"}


EXAMPLES = dict(examples())
RUN = [name for name in EXAMPLES if name not in exceptions()]

# The error that an example gets, because Atoll does not support that part of OpenAI's API.
REFUSED = {
    "Vision": openai.BadRequestError,
    "Pagination": openai.NotFoundError,
    "Pagination 2": openai.NotFoundError,
    "Pagination 3": openai.NotFoundError,
    "Pagination 4": openai.NotFoundError,
    "Undocumented endpoints": openai.NotFoundError,
}
# Patterns of what the examples print.
PRINTED = {
    "Usage": r"\S",
    "Usage 2": r"\S",
    "Async usage": r"\S",
    "Streaming responses": r"ResponseCreatedEvent[\s\S]*ResponseCompletedEvent",
    "Streaming responses 2": r"ResponseCreatedEvent[\s\S]*ResponseCompletedEvent",
    "Handling errors": r"non-200-range status code was received\n404\n",
    "Request IDs": r"^[\w-]{20,}$",
    "Accessing raw response data (e.g. headers)": r"ChatCompletion\(id='job_",
    "`.with_streaming_response`": r'"object":\s*"chat.completion"',
}


def test_exceptions_are_examples() -> None:
    assert exceptions() - set(EXAMPLES) == set()


@pytest.mark.parametrize("name", RUN)
def test_example(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("input.jsonl").write_text("{}\n")
    code = EXAMPLES[name]
    # Some examples use the client of an earlier example.
    is_async = re.search(r"^ *\S* ?=? ?await client", code, re.MULTILINE) and "def main" not in code
    client = openai.AsyncOpenAI() if is_async else openai.OpenAI()
    scope = {"client": client, "audio_bytes": SPOKEN.read_bytes(), "__name__": "example"}
    if name in REFUSED:
        with pytest.raises(REFUSED[name]):
            run(code, scope)
    else:
        run(code, scope)
    assert re.search(PRINTED.get(name, ""), capsys.readouterr().out)
    if "transcription" in scope:
        assert scope["transcription"].text == "yes no stop"


def run(code: str, scope: dict[str, object]) -> None:
    """Runs a block that may `await` outside of a function."""
    compiled = compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made = eval(compiled, scope)
    if asyncio.iscoroutine(made):
        asyncio.run(made)


def test_webhook() -> None:
    """Covers the examples with Flask. The client verifies what a coordinator has signed."""
    body, headers = Path(os.environ["WEBHOOK_BODY"]).read_text(), signed_headers()
    client = openai.OpenAI(webhook_secret=os.environ["WEBHOOK_SECRET"])
    assert client.webhooks.unwrap(body, headers).type == "job.completed"
    client.webhooks.verify_signature(body, headers)
    with pytest.raises(openai.InvalidWebhookSignatureError):
        client.webhooks.verify_signature(body + " ", headers)


def signed_headers() -> dict[str, str]:
    names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
    return {name: os.environ[name.upper().replace("-", "_")] for name in names}

