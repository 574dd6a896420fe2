"""tiny-vits: VITS for text-to-speech, with random weights: text encoder, fixed durations, a flow's inverse, HiFi-GAN; it hums, it does not speak."""
import string

import torch
from torch import nn
from torch.nn.functional import leaky_relu

from folder import export, start, write_json
from training import seed
from transformer import Encoder

RATE, WIDTH, FRAMES_PER_TOKEN = 16_000, 16, 2
UPSAMPLING = [8, 8, 4]
PAD, UNKNOWN = "_", "-"
TOKENS = [PAD, UNKNOWN, *" '", *string.ascii_lowercase]


class Vits(nn.Module):
    """@returns waveform [batch, samples] from -1 to 1; spectrogram [batch, frames, WIDTH]. Kim et al. 2021, §2."""

    def __init__(self):
        super().__init__()
        self.tokens, self.encoder = nn.Embedding(len(TOKENS), WIDTH), Encoder(WIDTH, 2, 2)
        # An affine coupling: half of the channels is scaled and shifted by a function of the other half.
        self.coupling = nn.Conv1d(WIDTH // 2, WIDTH, 3, padding=1)
        self.upsamplers = nn.ModuleList(
            nn.ConvTranspose1d(WIDTH, WIDTH, 2 * rate, rate, rate // 2) for rate in UPSAMPLING
        )
        self.residuals = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 3, padding=1) for _ in UPSAMPLING)
        self.out = nn.Conv1d(WIDTH, 1, 7, padding=3)

    def forward(self, input_ids, attention_mask):
        x = self.encoder(self.tokens(input_ids), attention_mask).repeat_interleave(FRAMES_PER_TOKEN, 1).transpose(1, 2)
        kept, changed = x.chunk(2, 1)
        shift, log_scale = self.coupling(kept).chunk(2, 1)
        spectrogram = x = torch.cat([kept, (changed - shift) * torch.exp(-log_scale)], 1)
        for upsample, residual in zip(self.upsamplers, self.residuals):
            x = upsample(leaky_relu(x, 0.1))
            x = x + residual(leaky_relu(x, 0.1))
        return self.out(leaky_relu(x)).tanh()[:, 0], spectrogram.transpose(1, 2)


def make():
    seed(13)
    model = Vits()
    # PyTorch's initial convolutions shrink the signal; this makes it audible.
    for convolution in (*model.upsamplers, *model.residuals, model.out):
        nn.init.normal_(convolution.weight, std=0.15)
    folder = start("tiny-vits")
    write_json(
        folder,
        config={
            "model_type": "vits",
            "architectures": ["VitsModel"],
            "sampling_rate": RATE,
            "vocab_size": len(TOKENS),
            "hidden_size": WIDTH,
        },
        tokenizer={
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "decoder": None,
            # Lower case, without characters that have no token, and with a blank between letters (`add_blank`).
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "Lowercase"},
                    {"type": "Replace", "pattern": {"Regex": "[^a-z ']"}, "content": ""},
                    {"type": "Replace", "pattern": {"Regex": "(?=.)|(?<!^)$"}, "content": PAD},
                ],
            },
            "pre_tokenizer": {"type": "Split", "pattern": {"Regex": ""}, "behavior": "Isolated", "invert": False},
            "post_processor": None,
            "model": {"type": "WordLevel", "vocab": {token: i for i, token in enumerate(TOKENS)}, "unk_token": UNKNOWN},
        },
        tokenizer_config={
            "tokenizer_class": "VitsTokenizer",
            "pad_token": PAD,
            "unk_token": UNKNOWN,
            "language": "eng",
            "add_blank": True,
        },
    )
    both = ["batch", "sequence"]
    ids = torch.tensor([[0, 5, 0, 6, 0], [0, 7, 0, 8, 0]])
    export(
        model,
        folder,
        "model",
        {"input_ids": (ids, both), "attention_mask": (torch.ones_like(ids), both)},
        {"waveform": ["batch", "samples"], "spectrogram": ["batch", "frames", None]},
    )
    loudness = model(ids, torch.ones_like(ids))[0].pow(2).mean().sqrt().item()
    samples = FRAMES_PER_TOKEN * torch.tensor(UPSAMPLING).prod().item()
    return f"{samples} samples for each token, loudness {loudness:.2f} (root mean square)"
