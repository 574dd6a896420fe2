"""
The networks of a latent diffusion pipeline (Rombach et al. 2022), small: text encoder, conditional U-Net, decoder; and their training.
"""
import math

import torch
from torch import nn
from torch.nn.functional import avg_pool2d, interpolate, mse_loss, silu

from byte_pairs import LENGTH
from training import fit
from transformer import Attention, Layer

TIMES, SCALING = 1000, 0.18215
BETAS = torch.linspace(0.00085**0.5, 0.012**0.5, TIMES) ** 2
ALPHAS = torch.cumprod(1 - BETAS, 0)
WAVES = 32


class TextEncoder(nn.Module):
    """CLIP's: a decoder without cross attention. Radford et al. 2021. Returns the last hidden states, the penultimate ones, and the pooled state."""

    def __init__(self, tokenizer, width):
        super().__init__()
        self.end = tokenizer.ids["<|endoftext|>"]
        self.tokens, self.places = nn.Embedding(tokenizer.size, width), nn.Parameter(torch.randn(LENGTH, width) * 0.1)
        self.layers = nn.ModuleList(Layer(width, 2, pre=True) for _ in range(2))
        self.norm, self.projection = nn.LayerNorm(width), nn.Linear(width, width, bias=False)

    def forward(self, input_ids):
        mask = torch.full((LENGTH, LENGTH), -1e4).triu(1)
        states = [self.tokens(input_ids.long()) + self.places]
        for layer in self.layers:
            states.append(layer(states[-1], mask)[0])
        last = self.norm(states[-1])
        first_end = (input_ids == self.end).int().argmax(1)
        pooled = last[torch.arange(input_ids.shape[0]), first_end]
        return last, pooled, self.projection(pooled), states


def waves(numbers, width=WAVES):
    """Sinusoidal embedding of a tensor of any shape. Ho et al. 2020; cosines first, as in diffusers."""
    rates = torch.exp(-math.log(10_000) * torch.arange(width // 2) / (width // 2))
    angles = numbers[..., None] * rates
    return torch.cat([angles.cos(), angles.sin()], -1)


class Block(nn.Module):
    def __init__(self, before, after, time_width):
        super().__init__()
        self.first, self.second = nn.Conv2d(before, after, 3, 1, 1), nn.Conv2d(after, after, 3, 1, 1)
        self.time, self.past = nn.Linear(time_width, after), nn.Conv2d(before, after, 1)

    def forward(self, x, time):
        y = self.first(silu(x)) + self.time(silu(time))[:, :, None, None]
        return self.past(x) + self.second(silu(y))


class Unet(nn.Module):
    """Two resolutions with cross attention to the text. `extra`: width of an embedding added to that of the timestep."""

    def __init__(self, text_width, width, extra=0):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(WAVES + extra, 2 * width), nn.SiLU(), nn.Linear(2 * width, 2 * width))
        self.text = nn.Linear(text_width, width)
        self.enter, self.leave = nn.Conv2d(4, width, 3, 1, 1), nn.Conv2d(width, 4, 3, 1, 1)
        self.narrow = nn.Conv2d(width, width, 3, 2, 1)
        self.blocks = nn.ModuleList(Block(n * width, width, 2 * width) for n in (1, 1, 2))
        self.attentions = nn.ModuleList(Attention(width, 2) for _ in range(2))

    def attend(self, attention, x, text):
        cells = x.flatten(2).transpose(1, 2)
        return x + attention(cells, source=text)[0].transpose(1, 2).reshape(x.shape)

    def forward(self, sample, timestep, encoder_hidden_states, extra=None):
        time = waves(timestep.float().reshape(-1)).expand(sample.shape[0], -1)
        time = self.time(time if extra is None else torch.cat([time, extra], -1))
        text = self.text(encoder_hidden_states)
        high = self.attend(self.attentions[0], self.blocks[0](self.enter(sample), time), text)
        low = self.attend(self.attentions[1], self.blocks[1](self.narrow(high), time), text)
        wide = interpolate(low, scale_factor=2.0, mode="nearest")
        return self.leave(self.blocks[2](torch.cat([wide, high], 1), time))


class Decoder(nn.Module):
    """Enlarges eight times; the first three channels of the latents are red, green and blue, -1 to 1 when unscaled."""

    def __init__(self):
        super().__init__()
        self.colours, self.smooth = nn.Conv2d(4, 3, 1), nn.Conv2d(3, 3, 3, 1, 1, padding_mode="replicate")
        for parameter in self.parameters():
            parameter.data.zero_()
        for i in range(3):
            self.colours.weight.data[i, i] = SCALING
            self.smooth.weight.data[i, i] = 1 / 9

    def forward(self, latent_sample):
        x = self.colours(latent_sample)
        for _ in range(3):
            x = self.smooth(interpolate(x, scale_factor=2.0, mode="nearest"))
        return x


class Encoder(nn.Module):
    """The inverse of the decoder: mean colour of 8 by 8 pixels, and its brightness. With `spread` also the logarithm of a small variance."""

    def __init__(self, spread):
        super().__init__()
        self.spread = spread
        self.colours = nn.Conv2d(3, 4, 1, bias=False)
        self.colours.weight.data.zero_()
        for i in range(3):
            self.colours.weight.data[i, i] = 1 / SCALING
            self.colours.weight.data[3, i] = 1 / 3 / SCALING

    def forward(self, sample):
        means = self.colours(avg_pool2d(sample, 8))
        return torch.cat([means, means * 0 - 20], 1) if self.spread else means


def train(random, parts, examples, paint, prediction, steps=900):
    """
    @param parts     list of modules that learn
    @param examples  (how many) -> means of the latents [n, 4], and what `paint` needs of them
    @param paint     (latents, timesteps, of what) -> what the U-Net says
    """

    def loss(size=40):
        means, of_what = examples(size)
        # Guidance pushes latents beyond the prompt's, so training has colours of many strengths and some sizes.
        strengths = torch.empty(size, 1, 1, 1).uniform_(0.6, 1.8)
        side = random.choice([4, 4, 8])
        clean = strengths * means[:, :, None, None] + 0.1 * torch.randn(size, 4, side, side)
        times, noise = torch.randint(TIMES, (size,)), torch.randn_like(clean)
        signal = ALPHAS[times].sqrt()[:, None, None, None]
        noisy_part = (1 - ALPHAS[times]).sqrt()[:, None, None, None]
        target = {"epsilon": noise, "v_prediction": signal * noise - noisy_part * clean}[prediction]
        return mse_loss(paint(signal * clean + noisy_part * noise, times, of_what), target)

    fit(nn.ModuleList(parts), steps, loss)
    with torch.no_grad():
        return loss(200).item()
