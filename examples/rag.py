"""
Answers a question from documents: finds similar passages by their embeddings, reranks them, and asks a chat model.

    python examples/rag.py [--top 3] "how do I revoke an API key?" docs/concepts.md docs/use/quickstart.md

Without --embedding-model and --rerank-model the operator's defaults are used. The models that ship with Atoll are toys: their vectors
know few words, and the chat model ignores the passages. The passages are printed, to show what a better model would read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from atoll_client import Atoll, AtollError

PASSAGE = 400
"""Maximum characters of a passage, so that several fit into the context of a small model."""
TEXTS = 256
"""Maximum texts of one embeddings request, which is one job."""
CANDIDATES = 20
"""Number of passages to rerank."""


@dataclass(frozen=True)
class Passage:
    source: str
    text: str


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="tiny-chat", help="chat model")
    parser.add_argument("--embedding-model")
    parser.add_argument("--rerank-model")
    parser.add_argument("--top", type=int, default=3, help="passages that the chat model reads")
    parser.add_argument("question")
    parser.add_argument("documents", nargs="+", type=Path)
    args = parser.parse_args()
    passages = [passage for path in args.documents for passage in passages_of(path)]
    if not passages:
        parser.error("the documents have no text")
    with Atoll() as atoll:
        candidates = nearest(atoll, args.embedding_model, args.question, passages)
        best = rerank(atoll, args.rerank_model, args.question, candidates, args.top)
        for passage, score in best:
            print(f"[{score:.2f}] {passage.source}: {passage.text[:70]!r}")
        print(answer(atoll, args.model, args.question, [passage for passage, _ in best]))


def passages_of(path: Path) -> Iterator[Passage]:
    """Returns paragraphs with their heading, split if they are long."""
    heading = ""
    for paragraph in path.read_text().split("\n\n"):
        text = paragraph.strip()
        if text.startswith("#"):
            heading, _, text = text.lstrip("# ").partition("\n")
        for at in range(0, len(text), PASSAGE):
            yield Passage(f"{path.name}, {heading}", f"{heading}: {text[at : at + PASSAGE]}")


def nearest(atoll: Atoll, model: str | None, question: str, passages: Sequence[Passage]) -> list[Passage]:
    """Returns the passages whose vectors are nearest to the question's."""
    (query,) = vectors(atoll, model, [question])
    found = vectors(atoll, model, [passage.text for passage in passages])
    order = sorted(range(len(passages)), key=lambda at: -dot(query, found[at]))
    return [passages[at] for at in order[:CANDIDATES]]


def vectors(atoll: Atoll, model: str | None, texts: Sequence[str]) -> list[list[float]]:
    """Returns a vector of length 1 per text. A real program would store them, since documents change less often than questions."""
    found: list[list[float]] = []
    for at in range(0, len(texts), TEXTS):
        answer = atoll.embeddings.create(model=model, input=list(texts[at : at + TEXTS]))
        found += [item["embedding"] for item in answer["data"]]
    return found


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def rerank(
    atoll: Atoll, model: str | None, question: str, passages: Sequence[Passage], top: int
) -> list[tuple[Passage, float]]:
    """Returns the best passages with their scores. The rerank model reads question and passage together, if the network has one."""
    answer = atoll.embeddings.rerank(
        model=model, query=question, documents=[passage.text for passage in passages], top_n=top
    )
    return [(passages[result["index"]], result["relevance_score"]) for result in answer["results"]]


def answer(atoll: Atoll, model: str, question: str, passages: Sequence[Passage]) -> str:
    texts = "\n\n".join(passage.text for passage in passages)
    prompt = f"Answer from these texts alone.\n\n{texts}\n\nQuestion: {question}"
    completion = atoll.chat.create(
        model=model, messages=[{"role": "user", "content": prompt}], temperature=0, max_tokens=200
    )
    return completion["choices"][0]["message"]["content"] or ""


if __name__ == "__main__":
    try:
        main()
    except AtollError as error:
        raise SystemExit(f"{error.code}: {error}") from None
    except OSError as error:
        raise SystemExit(str(error)) from None
