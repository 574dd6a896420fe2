"""Transformer blocks, as torch.onnx exports them with every batch and sequence length left open."""
import math

import torch
from torch import nn


class Attention(nn.Module):
    """Multi-head attention over itself or over `source`; `past` (keys, values) of earlier steps is prepended to its own."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], -1, self.heads, self.head_width).transpose(1, 2)

    def forward(self, x, source=None, mask=None, past=None):
        source = x if source is None else source
        query, keys, values = self.split(self.query(x)), self.split(self.key(source)), self.split(self.value(source))
        if past is not None:
            keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
        scores = query @ keys.transpose(-1, -2) / math.sqrt(self.head_width)
        if mask is not None:
            scores = scores + mask
        # Attention of the latest call, for models that return or train it.
        self.weights = scores.softmax(-1)
        mixed = (self.weights @ values).transpose(1, 2)
        return self.out(mixed.reshape(x.shape[0], -1, self.heads * self.head_width)), (keys, values)


class Layer(nn.Module):
    """One layer of an encoder, or of a decoder if `cross`. Norm after each step (BERT, BART) or before it if `pre` (ViT, Whisper)."""

    def __init__(self, width, heads, pre=False, cross=False):
        super().__init__()
        self.pre = pre
        self.self_attention = Attention(width, heads)
        self.cross_attention = Attention(width, heads) if cross else None
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if cross else 2))

    def add(self, norm, x, step):
        return x + step(norm(x)) if self.pre else norm(x + step(x))

    def forward(self, x, mask=None, source=None, source_mask=None, past=None):
        caches = []

        def attend(attention, **options):
            def step(y):
                y, cache = attention(y, **options)
                caches.append(cache)
                return y

            return step

        x = self.add(self.norms[0], x, attend(self.self_attention, mask=mask, past=past))
        if self.cross_attention is not None:
            x = self.add(self.norms[1], x, attend(self.cross_attention, source=source, mask=source_mask))
        return self.add(self.norms[-1], x, self.feed), caches


class Encoder(nn.Module):
    def __init__(self, width, heads, layers, pre=False):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, heads, pre) for _ in range(layers))
        self.last_norm = nn.LayerNorm(width) if pre else nn.Identity()

    def forward(self, x, attention_mask=None):
        mask = None if attention_mask is None else additive(attention_mask)
        for layer in self.layers:
            x, _ = layer(x, mask)
        return self.last_norm(x)


class Decoder(nn.Module):
    """Predicts the next token from tokens and an encoder's states; keys and values of earlier steps are inputs and outputs."""

    def __init__(self, vocabulary_size, width, heads, layers, positions, pre=False):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary_size, width), nn.Embedding(positions, width)
        self.first_norm = nn.Identity() if pre else nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads, pre, cross=True) for _ in range(layers))
        self.last_norm = nn.LayerNorm(width) if pre else nn.Identity()
        self.head = nn.Linear(width, vocabulary_size)

    def forward(self, input_ids, states, attention_mask=None, pasts=None):
        past_length = 0 if pasts is None else pasts[0][0].shape[2]
        rows = torch.arange(input_ids.shape[1]) + past_length
        columns = torch.arange(input_ids.shape[1] + past_length)
        mask = (columns[None] > rows[:, None]).float() * -1e4
        source_mask = None if attention_mask is None else additive(attention_mask)
        x = self.first_norm(self.tokens(input_ids) + self.positions(rows))
        caches = []
        for index, layer in enumerate(self.layers):
            x, cache = layer(x, mask, states, source_mask, None if pasts is None else pasts[index])
            caches.append(cache)
        return self.head(self.last_norm(x)), caches


def sinusoids(length, width):
    """Whisper's position embedding: sines, then cosines."""
    turns = torch.arange(length)[:, None] * torch.exp(
        -math.log(10_000) * torch.arange(width // 2) / (width // 2 - 1)
    )
    return torch.cat([turns.sin(), turns.cos()], 1)


def additive(attention_mask):
    """Converts a mask (1 for a token, 0 for padding) to a term added to the attention scores."""
    return (1.0 - attention_mask[:, None, None, :].float()) * -1e4
