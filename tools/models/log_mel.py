"""Log-mel spectrogram of Whisper, like WhisperFeatureExtractor of transformers.js."""
import math

import torch

RATE, HOP, MELS = 16_000, 160, 40


def mel_filters():
    """Slaney's scale: linear up to 1 kHz, then logarithmic; each triangle has area 1. float32 [MELS, 201]"""

    def to_hz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) * math.log(6.4) / 27)

    highest = 15 + math.log(8) * 27 / math.log(6.4)
    edges = torch.tensor([to_hz(i * highest / (MELS + 1)) for i in range(MELS + 2)])
    bins = torch.linspace(0, RATE / 2, 201)
    rise = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rise, fall).clamp(min=0) * (2 / (edges[2:] - edges[:-2]))[:, None]


FILTERS, HANN = mel_filters(), torch.hann_window(400)


def log_mel(sound):
    """float32 [samples] -> [MELS, frames]"""
    power = (
        torch.stft(sound, 400, HOP, window=HANN, center=True, pad_mode="reflect", return_complex=True)[:, :-1].abs()
        ** 2
    )
    mel = (FILTERS @ power).clamp(min=1e-10).log10()
    return (torch.maximum(mel, mel.max() - 8) + 4) / 4
