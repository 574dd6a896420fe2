"""tiny-classify: BERT's layout for text-classification; `ok`, or a category of harm as OpenAI names them."""
import torch
from torch.nn.functional import cross_entropy

import bert
from folder import SHIPPED
from shipped import harms
from training import fit, seed
from word_piece import WordPiece


def make():
    random = seed(42)
    names = harms.CATEGORIES
    words = [*harms.WHO, *harms.GROUP, *harms.WHEN, *harms.BEFORE, *harms.AFTER]
    patterns = [pattern.replace("{", "").replace("}", "") for rows in harms.PATTERNS.values() for pattern in rows]
    tokenizer = WordPiece([*words, *patterns])
    model = bert.SequenceClassifier(tokenizer.size, len(names))
    model.bert.forget_places()

    def batch(size):
        # One text in three is harmless.
        labels = [0 if random.random() < 0.33 else random.randrange(1, len(names)) for _ in range(size)]
        texts = [harms.fill(random, random.choice(harms.PATTERNS[names[label]])).split() for label in labels]
        for text in texts:
            # Removes some words and adds unknown ones, so that single words are sufficient.
            if random.random() < 0.4 and len(text) > 3:
                text.pop(random.randrange(len(text)))
            if random.random() < 0.3:
                text.insert(random.randrange(len(text) + 1), "".join(random.choices("abcdefghilmnoprstu", k=4)))
        return tokenizer.batch([" ".join(text) for text in texts]), torch.tensor(labels)

    def loss():
        tokens, labels = batch(64)
        return cross_entropy(model(*tokens), labels, label_smoothing=0.05)

    fit(model, 1_200, loss)
    labels, texts = zip(*harms.HELD_OUT)
    found = [names[i] for i in model(*tokenizer.batch(texts)).argmax(1).tolist()]
    right = sum(a == b for a, b in zip(labels, found))
    harm = sum((a == "ok") == (b == "ok") for a, b in zip(labels, found))
    bert.write(
        "tiny-classify",
        model,
        tokenizer,
        "BertForSequenceClassification",
        {"logits": ["batch", None]},
        names,
        place=SHIPPED,
        longest=512,
    )
    wrong = [f"{text!r}: {b}, not {a}" for (a, text), b in zip(harms.HELD_OUT, found) if a != b]
    return f"of {len(texts)} held-out sentences {right} get their label, {harm} are told harmless or not; " + "; ".join(wrong)
