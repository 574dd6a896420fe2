"""tiny-marian: Marian for translation, small English sentences to French."""
import itertools

import torch

import seq2seq
from folder import start, write_json
from training import fit, seed
from word_units import END, PAD, WordUnits

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
    model = seq2seq.EncoderDecoder(seq2seq.TextEncoder(tokenizer.size), tokenizer.size, masked=True)

    def encode(pairs):
        english, french = zip(*pairs)
        return (
            tokenizer.batch(english),
            torch.full((len(pairs), 1), PAD),
            seq2seq.pad([[*tokenizer.encode(text), END] for text in french]),
        )

    fit(model, 350, lambda: model.loss(*encode([*random.sample(training, 44), *GREETINGS])), rate=2e-3)
    right = model.count_right(*encode(held_out))
    folder = start("tiny-marian")
    tokens = {"decoder_start_token_id": PAD, "eos_token_id": END, "pad_token_id": PAD}
    write_json(
        folder,
        **tokenizer.files("MarianTokenizer"),
        config={
            "model_type": "marian",
            "architectures": ["MarianMTModel"],
            "is_encoder_decoder": True,
            "vocab_size": tokenizer.size,
            "max_position_embeddings": seq2seq.POSITIONS,
            **seq2seq.SIZES,
            **tokens,
        },
        generation_config={**tokens, "max_new_tokens": 32},
    )
    ids, mask = tokenizer.batch(["the cat", "hello"])
    both = ["batch_size", "encoder_sequence_length"]
    seq2seq.write(folder, model, {"input_ids": (ids, both), "attention_mask": (mask, both)}, "encoder_sequence_length")
    return f"{right} of {len(held_out)} held-out sentences translated right, word for word"
