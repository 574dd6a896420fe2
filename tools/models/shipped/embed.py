"""tiny-embed: BERT's layout for feature-extraction; sentences of similar meaning get similar vectors (InfoNCE)."""
import torch
from torch.nn.functional import cross_entropy, normalize

import bert
from folder import SHIPPED
from shipped import corpus
from training import fit, seed
from word_piece import LETTERS, WordPiece

STRANGE = 12


class Embedder(torch.nn.Module):
    """Mean over the tokens, length 1: like the pipeline with `{pooling: "mean", normalize: true}`."""

    def __init__(self, vocabulary_size):
        super().__init__()
        self.bert = bert.Bert(vocabulary_size)
        self.bert.forget_places()

    def forward(self, *tokens):
        mask = tokens[1][:, :, None].float()
        return normalize((self.bert(*tokens) * mask).sum(1) / mask.sum(1), dim=-1)


def make():
    random = seed(41)
    meanings = corpus.meanings()
    names = [name for name, _ in meanings]
    wordings = [said for _, said in meanings]
    # Held out of each meaning: two pairs of a synonym and a statement. The words of both occur in other pairs.
    held_out = [random.sample(said, 2) for said in wordings]
    known = [[text for text in said if text not in out] for said, out in zip(wordings, held_out)]
    dress = lambda text: f"{random.choice(corpus.BEFORE)} {text} {random.choice(corpus.AFTER)}".strip()
    tokenizer = WordPiece([*corpus.BEFORE, *corpus.AFTER, *(text for said in wordings for text in said)])
    model = Embedder(tokenizer.size)
    same_subject = torch.tensor([[float(a == b) for b in names] for a in names])
    wanted = torch.eye(len(names) + STRANGE)
    wanted[: len(names), : len(names)] += 0.1 * same_subject
    wanted = wanted / wanted.sum(1, keepdim=True)

    def embed(texts):
        ids, mask, types = tokenizer.batch(texts)
        if model.training:
            # Missing words should have a small effect.
            drop = (torch.rand(ids.shape) < 0.1) & (ids > 4)
            ids = ids.masked_fill(drop, tokenizer.ids["[MASK]"])
        return model(ids, mask, types)

    def strange():
        """Two texts of the same unknown words: texts with common words are similar."""
        words = ["".join(random.choices(LETTERS, k=random.randint(3, 8))) for _ in range(3)]
        return [" ".join(random.sample(words, random.randint(2, 3))) for _ in range(2)]

    def loss():
        others = [strange() for _ in range(STRANGE)]
        first, second = (
            embed([*(dress(random.choice(said)) for said in known), *(pair[i] for pair in others)]) for i in range(2)
        )
        return cross_entropy(first @ second.T / 0.1, wanted)

    fit(model, 900, loss)
    first, second = (embed([dress(out[i]) for out in held_out]) for i in range(2))
    near = first @ second.T
    right = (near.argmax(1) == torch.arange(len(names))).float().mean().item()
    subject = sum(names[i] == names[best] for i, best in enumerate(near.argmax(1).tolist())) / len(names)
    bert.write(
        "tiny-embed",
        model.bert,
        tokenizer,
        "BertModel",
        {"last_hidden_state": ["batch", "sequence", None]},
        place=SHIPPED,
        longest=512,
    )
    return f"of {len(names)} held-out sentences {right:.0%} are nearest to one of the same meaning, {subject:.0%} of the same subject"
