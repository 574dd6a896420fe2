"""tiny-qa: BERT for question-answering; answers who, where and what from a context of one to three facts."""
import torch
from torch.nn.functional import cross_entropy

import bert
from training import fit, seed
from word_piece import WordPiece

PEOPLE = "john mary anna peter ada alan grace tom susan maria".split()
PLACES = "paris london berlin tokyo lisbon oslo vienna rome cairo lima".split()
THINGS = "bread cake soup tea coffee rice fish cheese apples honey".split()
FACTS = [
    "{who} lives in {where} and likes {what} .",
    "in {where} , {who} buys {what} .",
    "{who} went to {where} to eat {what} .",
]
OTHERS = ["", "the weather is good .", "it was a long day .", "nothing else happened ."]
QUESTIONS = {
    "where": ["where does {who} live ?", "where is {who} ?", "where did {who} go ?", "in which city is {who} ?"],
    "who": ["who lives in {where} ?", "who likes {what} ?", "who is in {where} ?", "who eats {what} ?"],
    "what": ["what does {who} like ?", "what does {who} eat ?", "what does {who} buy ?"],
}


class SpanFinder(bert.TokenClassifier):
    """Scores of each token as the first and as the last of the answer."""

    def forward(self, *tokens):
        scores = super().forward(*tokens)
        return scores[:, :, 0], scores[:, :, 1]


def ask(random):
    """question, context, answer"""
    fact = {"who": random.choice(PEOPLE), "where": random.choice(PLACES), "what": random.choice(THINGS)}
    kind = random.choice(list(QUESTIONS))
    parts = [random.choice(OTHERS), random.choice(FACTS).format(**fact), random.choice(OTHERS)]
    return random.choice(QUESTIONS[kind]).format(**fact), " ".join(filter(None, parts)), fact[kind]


def make():
    random = seed(4)
    texts = [*FACTS, *OTHERS, *(q for asked in QUESTIONS.values() for q in asked)]
    plain = [text.replace("{who}", "").replace("{where}", "").replace("{what}", "") for text in texts]
    tokenizer = WordPiece([*plain, *PEOPLE, *PLACES, *THINGS])
    model = SpanFinder(tokenizer.size, 2)

    def batch(size):
        questions, contexts, answers = zip(*(ask(random) for _ in range(size)))
        tokens = tokenizer.batch(questions, contexts)
        # The answer is one token of the second segment.
        wanted = torch.tensor([tokenizer.ids[answer] for answer in answers])
        return tokens, ((tokens[0] == wanted[:, None]) & (tokens[2] == 1)).float().argmax(-1)

    def loss():
        tokens, places = batch(64)
        return sum(cross_entropy(scores, places) for scores in model(*tokens))

    fit(model, 500, loss)
    tokens, places = batch(500)
    first, last = (scores.argmax(-1) == places for scores in model(*tokens))
    both = ["batch", "sequence"]
    bert.write("tiny-qa", model, tokenizer, "BertForQuestionAnswering", {"start_logits": both, "end_logits": both})
    return f"{(first & last).float().mean().item():.2%} of 500 fresh questions answered right"
