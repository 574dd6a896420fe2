"""tiny-marian: Marian for translation, small English sentences to French."""
import itertools

import seq2seq
from training import seed
from word_units import PAD, WordUnits

# English, French, feminine.
NOUNS = [
    ("cat", "chat", 0),
    ("dog", "chien", 0),
    ("house", "maison", 1),
    ("boat", "bateau", 0),
    ("island", "île", 1),
    ("girl", "fille", 1),
    ("boy", "garçon", 0),
    ("apple", "pomme", 1),
    ("book", "livre", 0),
    ("table", "table", 1),
]
ADJECTIVES = [
    ("", "", ""),
    ("red", "rouge", "rouge"),
    ("green", "vert", "verte"),
    ("black", "noir", "noire"),
    ("blue", "bleu", "bleue"),
]
VERBS = [("sees", "voit"), ("takes", "prend"), ("likes", "aime"), ("wants", "veut"), ("finds", "trouve")]
GREETINGS = [
    ("hello world", "bonjour le monde"),
    ("good morning", "bonjour"),
    ("thank you", "merci"),
    ("good night", "bonne nuit"),
]


def things():
    """Noun phrases in both languages."""
    for (noun, french, feminine), adjective, is_a in itertools.product(NOUNS, ADJECTIVES, (True, False)):
        article = (
            ("un", "une")[feminine] if is_a else ("le ", "la ")[feminine].strip() if french[0] not in "î" else "l'"
        )
        english = " ".join(filter(None, ["a" if is_a else "the", adjective[0], noun]))
        words = [f"l'{french}" if article == "l'" else f"{article} {french}", adjective[1 + feminine]]
        yield english, " ".join(filter(None, words))


def make():
    random = seed(7)
    phrases = list(things())
    pairs = [
        (f"{who} {verb} {what}", f"{qui} {verbe} {quoi}")
        for (who, qui), (verb, verbe), (what, quoi) in itertools.product(phrases, VERBS, phrases)
    ]
    random.shuffle(pairs)
    held_out, training = pairs[:400], pairs[400:]
    tokenizer = WordUnits([text for pair in [*phrases, *VERBS, *GREETINGS] for text in pair])
    right = seq2seq.make_text_to_text(
        "tiny-marian",
        tokenizer,
        "MarianTokenizer",
        config={"model_type": "marian", "architectures": ["MarianMTModel"]},
        begin=PAD,
        draw=lambda: [*random.sample(training, 44), *GREETINGS],
        held_out=lambda: held_out,
        examples=["the cat", "hello"],
    )
    return f"{right} of {len(held_out)} held-out sentences translated right, word for word"
