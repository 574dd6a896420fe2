"""tiny-ctc: wav2vec2 for automatic-speech-recognition; spells letters of 0.1 s each: 0.075 s of a tone, then silence."""
import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu

from folder import export, start, write_json
from training import fit, seed
from transformer import Encoder

RATE, TONE_S, WIDTH = 16_000, 0.1, 32
LETTERS = "ABCDE"
TONE_HZ = {letter: 400 + 300 * i for i, letter in enumerate(LETTERS)}
TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "|", *LETTERS]
# Kernel and stride of each convolution; together one frame for 320 samples. Source: Baevski et al. 2020 (wav2vec 2.0), §4.2.
CONVOLUTIONS = [(10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)]


class Wav2Vec2(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [1] + [WIDTH] * len(CONVOLUTIONS)
        self.features = nn.ModuleList(nn.Conv1d(a, b, k, s) for a, b, (k, s) in zip(sizes, sizes[1:], CONVOLUTIONS))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in CONVOLUTIONS)
        self.positions = nn.Conv1d(WIDTH, WIDTH, 9, padding=4, groups=4)
        self.encoder, self.head = Encoder(WIDTH, 2, 1), nn.Linear(WIDTH, len(TOKENS))

    def forward(self, input_values):
        x = input_values[:, None]
        for convolution, norm in zip(self.features, self.norms):
            x = gelu(norm(convolution(x).transpose(1, 2)).transpose(1, 2))
        x = x.transpose(1, 2)
        x = x + gelu(self.positions(x.transpose(1, 2))).transpose(1, 2)
        return self.head(self.encoder(x))


def sound(text, level=0.5):
    """A tone for each letter, silence for a space. float32 [samples]"""
    time = torch.arange(int(RATE * TONE_S)) / RATE
    heard = level * (time < 0.75 * TONE_S)
    return torch.cat([heard * torch.sin(2 * math.pi * TONE_HZ.get(letter, 0) * time) for letter in text])


def make():
    random = seed(5)
    model = Wav2Vec2()

    def batch(size):
        texts = ["".join(random.choices(LETTERS + " ", k=5)) for _ in range(size)]
        sounds = torch.stack([sound(text, random.uniform(0.2, 0.8)) for text in texts])
        frames = (sounds.shape[1] - 400) // 320 + 1
        # The target at a frame's middle: the letter in the first part of its tone, then blank, so that double letters stay double.
        answers = torch.zeros(size, frames, dtype=torch.long)
        for i, text in enumerate(texts):
            for frame in range(frames):
                place, part = divmod((frame * 320 + 200) / RATE / TONE_S, 1)
                heard = text[int(place)]
                answers[i, frame] = TOKENS.index("|" if heard == " " else heard) if part < 0.6 else 0
        return sounds + 0.01 * torch.randn_like(sounds), answers

    def loss():
        sounds, answers = batch(16)
        return cross_entropy(model(sounds).transpose(1, 2), answers)

    fit(model, 250, loss, rate=2e-3)
    sounds, answers = batch(100)
    right = (model(sounds).argmax(-1) == answers).float().mean().item()
    folder = start("tiny-ctc")
    # Not special: transformers.js drops special tokens before the CTC decoder sees the blanks between equal letters.
    flags = {"single_word": False, "lstrip": True, "rstrip": True, "normalized": False, "special": False}
    vocabulary = {token: i for i, token in enumerate(TOKENS)}
    write_json(
        folder,
        config={
            "model_type": "wav2vec2",
            "architectures": ["Wav2Vec2ForCTC"],
            "vocab_size": len(TOKENS),
            "hidden_size": WIDTH,
            "pad_token_id": 0,
        },
        preprocessor_config={
            "feature_extractor_type": "Wav2Vec2FeatureExtractor",
            "feature_size": 1,
            "padding_value": 0,
            "return_attention_mask": False,
            "sampling_rate": RATE,
            "do_normalize": False,
        },
        tokenizer_config={
            "tokenizer_class": "Wav2Vec2CTCTokenizer",
            "unk_token": "<unk>",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "pad_token": "<pad>",
            "word_delimiter_token": "|",
        },
        tokenizer={
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "post_processor": None,
            "added_tokens": [{"id": i, "content": token, **flags} for i, token in enumerate(TOKENS[:4])],
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "|"},
            "pre_tokenizer": {"type": "Split", "pattern": {"Regex": ""}, "behavior": "Isolated", "invert": False},
            "decoder": {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
            "model": {"vocab": vocabulary},
        },
    )
    export(
        model,
        folder,
        "model",
        {"input_values": (torch.zeros(1, 4000), ["batch", "samples"])},
        {"logits": ["batch", "frames", None]},
    )
    return f"{right:.2%} of the frames of 100 fresh sounds right"
