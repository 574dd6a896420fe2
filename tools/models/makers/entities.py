"""tiny-ner: BERT for token-classification of people, places and organisations, with B- and I- labels."""
import torch
from torch.nn.functional import cross_entropy

import bert
from training import fit, seed
from word_piece import WordPiece

CLASSES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
NAMES = {
    "PER": "john,mary,anna,peter,ada lovelace,alan turing,grace hopper,maria silva,tom brown,susan".split(","),
    "LOC": "paris,london,berlin,tokyo,new york,hong kong,cape town,lisbon,san diego,oslo".split(","),
    "ORG": "acme,globex,initech,red cross,united nations,umbrella corp,stark industries,wayne bank,hooli,cyberdyne".split(
        ","
    ),
}
TEMPLATES = """PER lives in LOC .
PER works for ORG .
PER works for ORG in LOC .
ORG has an office in LOC .
yesterday PER met PER in LOC .
the train from LOC to LOC was late .
ORG hired PER and PER last year .
did PER travel to LOC with PER ?
the weather in LOC is good today .
nothing happened this week .
PER , who was born in LOC , leads ORG .
shares of ORG rose in LOC ."""


def tag(template, random):
    """The template filled in, as (word, label) pairs."""
    for word in template.split():
        if word not in NAMES:
            yield word, "O"
            continue
        for i, part in enumerate(random.choice(NAMES[word]).split()):
            yield part, f"{'I' if i else 'B'}-{word}"


def make():
    random = seed(3)
    templates = TEMPLATES.split("\n")
    tokenizer = WordPiece(
        [
            TEMPLATES.replace("PER", "").replace("LOC", "").replace("ORG", ""),
            *(" ".join(names) for names in NAMES.values()),
        ]
    )
    model = bert.TokenClassifier(tokenizer.size, len(CLASSES))

    def batch(size):
        rows = [list(tag(random.choice(templates), random)) for _ in range(size)]
        tokens = tokenizer.batch([" ".join(word for word, _ in row) for row in rows])
        answers = torch.full_like(tokens[0], -100)
        for i, row in enumerate(rows):
            answers[i, : len(row) + 2] = torch.tensor([0, *(CLASSES.index(label) for _, label in row), 0])
        return tokens, answers

    def loss():
        tokens, answers = batch(32)
        return cross_entropy(model(*tokens).transpose(1, 2), answers)

    fit(model, 400, loss)
    tokens, answers = batch(500)
    asked = answers != -100
    right = (model(*tokens).argmax(-1) == answers)[asked].float().mean().item()
    bert.write(
        "tiny-ner", model, tokenizer, "BertForTokenClassification", {"logits": ["batch", "sequence", None]}, CLASSES
    )
    return f"{right:.2%} of the tokens of 500 fresh sentences right"
