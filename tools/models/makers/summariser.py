"""tiny-bart: BART for summarization; of a made report it keeps who did what, and leaves out the rest."""
import torch

import seq2seq
from folder import start, write_json
from training import fit, seed
from word_units import END, PAD, WordUnits

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
    model = seq2seq.EncoderDecoder(seq2seq.TextEncoder(tokenizer.size), tokenizer.size, masked=True)

    def batch(size):
        texts, summaries = zip(*(report(random) for _ in range(size)))
        return (
            tokenizer.batch(texts),
            torch.full((size, 1), END),
            seq2seq.pad([[*tokenizer.encode(text), END] for text in summaries]),
        )

    fit(model, 350, lambda: model.loss(*batch(32)), rate=2e-3)
    right = model.count_right(*batch(400))
    folder = start("tiny-bart")
    # BART begins its answers with the end token.
    tokens = {"decoder_start_token_id": END, "eos_token_id": END, "pad_token_id": PAD}
    write_json(
        folder,
        **tokenizer.files("PreTrainedTokenizer"),
        config={
            "model_type": "bart",
            "architectures": ["BartForConditionalGeneration"],
            "is_encoder_decoder": True,
            "vocab_size": tokenizer.size,
            "max_position_embeddings": seq2seq.POSITIONS,
            **seq2seq.SIZES,
            **tokens,
        },
        generation_config={**tokens, "max_new_tokens": 32},
    )
    ids, mask = tokenizer.batch(["the minister", "nobody"])
    both = ["batch_size", "encoder_sequence_length"]
    seq2seq.write(folder, model, {"input_ids": (ids, both), "attention_mask": (mask, both)}, "encoder_sequence_length")
    return f"{right} of 400 fresh reports summarised right, word for word"
