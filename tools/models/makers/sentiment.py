"""tiny-sentiment: DistilBERT for text-classification, trained on generated opinions; negation flips the label."""
import itertools

import torch
from torch.nn.functional import cross_entropy

import bert
import quantise
from training import fit, seed
from word_piece import WordPiece

THINGS = "this,this film,the film,the movie,this book,the book,this song,the food,my new phone,the hotel,your idea,the service,the weather,that game,it".split(
    ","
)
PEOPLE = "i,we,they,my friends,my parents,she".split(",")
VERBS = {1: "love,like,enjoy,adore,recommend".split(","), 0: "hate,dislike,regret,despise,detest".split(",")}
ADJECTIVES = {
    1: "good,great,wonderful,excellent,lovely,amazing,brilliant,beautiful,perfect,fantastic".split(","),
    0: "bad,terrible,awful,horrible,boring,ugly,poor,dreadful,broken,disappointing".split(","),
}
DEGREES = ["", "very ", "really ", "so ", "truly "]


def sentences():
    """(text, label), each once; label 1 is positive."""
    made = []
    for label in (0, 1):
        for who, verb, thing, degree in itertools.product(PEOPLE, VERBS[label], THINGS, ["", "really ", "truly "]):
            made.append((f"{who} {degree}{verb} {thing}", label))
        for who, verb, thing in itertools.product(PEOPLE, VERBS[label], THINGS):
            made.append((f"{who} {'does' if who == 'she' else 'do'} not {verb} {thing}", 1 - label))
        for thing, degree, adjective in itertools.product(THINGS, DEGREES, ADJECTIVES[label]):
            made.append((f"{thing} is {degree}{adjective}", label))
            made.append((f"{thing} was {degree}{adjective}!", label))
            made.append((f"{thing} is not {degree}{adjective}.", 1 - label))
        for degree, adjective in itertools.product(DEGREES, ADJECTIVES[label]):
            made.append((f"what a {degree}{adjective} day", label))
            made.append((f"{degree}{adjective}", label))
    return made


def make():
    random = seed(1)
    made = sentences()
    random.shuffle(made)
    held_out, training = made[: len(made) // 5], made[len(made) // 5 :]
    tokenizer = WordPiece(text for text, _ in made)
    model = bert.SequenceClassifier(tokenizer.size, 2, distilled=True)

    def loss():
        texts, answers = zip(*random.sample(training, 64))
        return cross_entropy(model(*tokenizer.batch(texts)[:2]), torch.tensor(answers))

    fit(model, 800, loss)
    texts, answers = zip(*held_out)
    right = (model(*tokenizer.batch(texts)[:2]).argmax(-1) == torch.tensor(answers)).float().mean().item()
    folder = bert.write(
        "tiny-sentiment",
        model,
        tokenizer,
        "DistilBertForSequenceClassification",
        {"logits": ["batch", None]},
        ["NEGATIVE", "POSITIVE"],
        "distilbert",
    )
    quantise.quantise(folder)
    return f"accuracy on {len(held_out)} held-out sentences of {len(made)}: {right:.2%}"
