"""tiny-bart: BART for summarization; of a generated report it keeps who did what, and nothing else."""
import seq2seq
from training import seed
from word_units import END, WordUnits

WHO = [
    "the minister",
    "the company",
    "a fisherman",
    "the captain",
    "the school",
    "a scientist",
    "the museum",
    "the farmer",
]
DID = [
    "opened a bridge",
    "found a shipwreck",
    "bought a farm",
    "lost the election",
    "built a lighthouse",
    "sold the harbour",
    "won a prize",
    "planted a forest",
]
WHERE = ["in the north", "near the coast", "in the old town", "on the island", "by the river"]
WHEN = ["on monday", "last week", "this morning", "after a long delay", "in spring"]
FILLING = [
    "many people came to watch.",
    "the weather was fine.",
    "nobody was hurt.",
    "it had been planned for years.",
    "experts were surprised.",
    "the neighbours are happy.",
    "more news will follow.",
]


def report(random):
    """text, its summary"""
    who, did = random.choice(WHO), random.choice(DID)
    fact = (
        f"{random.choice(WHEN)} {who} {did} {random.choice(WHERE)}."
        if random.random() < 0.5
        else f"{who} {did} {random.choice(WHERE)} {random.choice(WHEN)}."
    )
    filling = random.sample(FILLING, random.randint(1, 3))
    place = random.randint(0, min(1, len(filling)))
    return " ".join([*filling[:place], fact, *filling[place:]]), f"{who} {did}."


def make():
    random = seed(8)
    tokenizer = WordUnits([*WHO, *DID, *WHERE, *WHEN, *FILLING])

    def draw(count):
        return [report(random) for _ in range(count)]

    right = seq2seq.make_text_to_text(
        "tiny-bart",
        tokenizer,
        "PreTrainedTokenizer",
        config={"model_type": "bart", "architectures": ["BartForConditionalGeneration"]},
        # BART begins its output with the end token.
        begin=END,
        draw=lambda: draw(32),
        held_out=lambda: draw(400),
        examples=["the minister", "nobody"],
    )
    return f"{right} of 400 fresh reports summarised right, word for word"
