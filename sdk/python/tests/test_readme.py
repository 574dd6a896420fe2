"""Runs each example of README.md as a separate program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import TEXT, Bench

README = (Path(__file__).parents[1] / "README.md").read_text()
EXAMPLES = [
    (section.split("\n", 1)[0], code)
    for section in README.split("\n## ")[1:]
    for code in re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
]
PRINTED = {
    "Chat": f"{TEXT}\n{TEXT}",
    "Jobs": f"{TEXT}8\n{TEXT}\n",
    "Async": f"{[TEXT, TEXT]}\nstatus\n",
    "Batches, conversations, events": f"2\n{TEXT}\n",
    "Files, images, speech": "b'a large input'\n",
    "Webhooks": "",
}


def test_every_example_is_known() -> None:
    assert [heading for heading, _ in EXAMPLES] == list(PRINTED)


@pytest.mark.parametrize(("heading", "code"), EXAMPLES, ids=PRINTED)
def test_an_example_prints_the_expected_text(
    heading: str, code: str, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(code, heading, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.startswith(PRINTED[heading])
