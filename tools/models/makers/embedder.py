"""tiny-embedder: BERT for feature-extraction; sentences of similar meaning get similar vectors (InfoNCE)."""
import itertools

import torch
from torch.nn.functional import cross_entropy, normalize

import bert
import quantise
from training import fit, seed
from word_piece import WordPiece

# The words of a list mean the same; a topic is a subject and an action.
TOPICS = [
    (["cat", "kitten"], [["sleeps", "naps", "dozes"], ["plays", "jumps"], ["eats", "drinks milk"]]),
    (["dog", "puppy"], [["barks", "howls"], ["runs", "chases a ball"], ["rests", "lies down"]]),
    (["stocks", "shares", "markets"], [["fell", "dropped", "lost value"], ["rose", "climbed", "gained value"]]),
    (["rain", "snow", "storm"], [["came", "began", "started"], ["stopped", "ended", "passed"]]),
    (["ship", "boat"], [["sails", "leaves the harbour"], ["sank", "went down"], ["arrives", "reaches the island"]]),
    (["chef", "cook"], [["bakes bread", "makes a cake"], ["boils soup", "prepares dinner"]]),
]
BEFORE = ["the", "a", "my", "some", "their"]
AFTER = ["", "today", "this morning", "again", "now"]


def meanings():
    """Each meaning as a list of its wordings, without prefix and suffix."""
    return [
        [f"{who} {does}" for who, does in itertools.product(names, auditEvents)] for names, acts in TOPICS for auditEvents in acts
    ]


def topic_of(meaning):
    return [i for i, (_, acts) in enumerate(TOPICS) for _ in acts][meaning]


class Embedder(torch.nn.Module):
    """Mean over the tokens, length 1: like the pipeline with `{pooling: "mean", normalize: true}`."""

    def __init__(self, vocabulary_size):
        super().__init__()
        self.bert = bert.Bert(vocabulary_size)

    def forward(self, *tokens):
        mask = tokens[1][:, :, None].float()
        return normalize((self.bert(*tokens) * mask).sum(1) / mask.sum(1), dim=-1)


def make():
    random = seed(2)
    phrases = meanings()
    # One wording of each meaning is held out.
    held_out = [wordings[-1] for wordings in phrases]
    known = [wordings[:-1] for wordings in phrases]
    dress = lambda phrase: " ".join(filter(None, [random.choice(BEFORE), phrase, random.choice(AFTER)]))
    every = [*BEFORE, *AFTER, *itertools.chain(*phrases)]
    tokenizer = WordPiece(every)
    model = Embedder(tokenizer.size)

    def loss():
        first, second = ([dress(random.choice(wordings)) for wordings in known] for _ in range(2))
        near = model(*tokenizer.batch(first)) @ model(*tokenizer.batch(second)).T
        # Another action of the same subject is half similar: its target is less strict than that of another topic.
        topics = torch.tensor([topic_of(i) for i in range(len(known))])
        wanted = torch.eye(len(known)) + 0.25 * (topics[:, None] == topics[None]).float()
        return cross_entropy(near / 0.1, wanted / wanted.sum(1, keepdim=True))

    fit(model, 600, loss)
    others = model(*tokenizer.batch([f"the {random.choice(wordings)}" for wordings in known]))
    vectors = model(*tokenizer.batch([f"a {phrase}" for phrase in held_out]))
    right = ((vectors @ others.T).argmax(-1) == torch.arange(len(known))).sum().item()
    folder = bert.write(
        "tiny-embedder", model.bert, tokenizer, "BertModel", {"last_hidden_state": ["batch", "sequence", None]}
    )
    quantise.quantise(folder)
    return f"{right} of {len(known)} held-out wordings are nearest to another wording of their own meaning"
