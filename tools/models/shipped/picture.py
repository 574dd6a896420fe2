"""
tiny-picture: a latent consistency pipeline in diffusers' layout that draws one coloured shape on a ground of 64 x 64 pixels. Nothing is
trained by descent: for a finite set of images the optimal denoiser is known. It is the mean of the images, weighted by their likelihood
given the noisy image (Karras et al. 2022, appendix B.3). The U-Net computes it over the images that match the prompt.
"""
import itertools

import torch
from torch import nn
from torch.nn.functional import interpolate

import painter
from byte_pairs import LENGTH, BytePairs
from folder import SHIPPED, export, start, write_json
from makers.painters import PARTS_OF, SCHEDULE, STATES
from training import seed

SIDE = 8
COLOURS = {
    "red": (230, 30, 30),
    "green": (30, 160, 60),
    "blue": (40, 70, 220),
    "yellow": (250, 220, 40),
    "orange": (250, 140, 20),
    "purple": (130, 50, 170),
    "pink": (250, 150, 190),
    "white": (250, 250, 250),
    "grey": (130, 130, 130),
    "black": (20, 20, 20),
}
SHAPES = ["circle", "square", "triangle", "diamond", "ring"]
SAME = {"disc": "circle", "ball": "circle", "box": "square", "gray": "grey", "large": "big", "little": "small"}
SIZES = {"small": 0.45, "big": 0.7}
PLACES = {"left": (-0.25, 0), "right": (0.25, 0), "top": (0, -0.25), "bottom": (0, 0.25), "middle": (0, 0)}
AFTER = ["on", "background", "ground", "before"]
OTHERS = "a an the in of at with picture drawing centre corner over".split()
# State of a token: three numbers of a colour, whether it is a colour, shape, size, position, and whether the background follows.
SHAPE, SIZE, PLACE = 4, 4 + len(SHAPES), 4 + len(SHAPES) + len(SIZES)
GROUND = PLACE + len(PLACES)
WIDTH = GROUND + 2


def distance(shape, x, y, radius):
    """Distance of a point to the edge of the shape, in halves of the image; negative outside."""
    if shape == "circle":
        return radius - (x**2 + y**2).sqrt()
    if shape == "square":
        return radius * 0.9 - torch.maximum(x.abs(), y.abs())
    if shape == "diamond":
        return (radius * 1.15 - x.abs() - y.abs()) / 2**0.5
    if shape == "ring":
        return radius * 0.33 - ((x**2 + y**2).sqrt() - radius * 0.75).abs()
    slope = 0.9 * radius - y
    return torch.minimum(slope, (y + radius - 2 * x.abs()) / 5**0.5)


def list_images():
    """All images without colours: distances [n, SIDE, SIDE], and numbers of shape, size and position [n, 3]."""
    cells = (torch.arange(SIDE) + 0.5) * 2 / SIDE - 1
    y, x = torch.meshgrid(cells, cells, indexing="ij")
    kinds = list(itertools.product(range(len(SHAPES)), range(len(SIZES)), range(len(PLACES))))
    fields = []
    for shape, size, place in kinds:
        dx, dy = list(PLACES.values())[place]
        radius = list(SIZES.values())[size]
        fields.append(distance(SHAPES[shape], x - dx, y - dy, radius))
    return (torch.stack(fields) * 4).clamp(-1, 1), torch.tensor(kinds)


class Words(nn.Module):
    """CLIPTextModel's inputs and outputs. A state has the facts of its token, and whether it follows a word such as "on"."""

    def __init__(self, tokenizer):
        super().__init__()
        table = torch.zeros(tokenizer.size, WIDTH)
        for word in [*COLOURS, *SHAPES, *SIZES, *PLACES, *AFTER, *SAME]:
            row = table[tokenizer.encode(word)[1]]
            name = SAME.get(word, word)
            if name in COLOURS:
                row[:4] = torch.tensor([*(2 * part / 255 - 1 for part in COLOURS[name]), 1])
            for first, names in ((SHAPE, SHAPES), (SIZE, list(SIZES)), (PLACE, list(PLACES)), (GROUND, AFTER)):
                if name in names:
                    row[first if first == GROUND else first + names.index(name)] = 1
        self.register_buffer("table", table)

    def forward(self, input_ids):
        states = self.table[input_ids.long()]
        # A matrix product instead of cumsum, which this opset exports incorrectly for float16.
        earlier = torch.ones(LENGTH, LENGTH).tril(-1)
        follows = (earlier @ states[:, :, GROUND : GROUND + 1]).clamp(max=1)
        states = torch.cat([states[:, :, :-1], follows], 2)
        return states, states.sum(1)


class Denoiser(nn.Module):
    """The U-Net's inputs and output: the noise in `sample`, from the mean of the images that match the prompt."""

    def __init__(self):
        super().__init__()
        fields, kinds = list_images()
        self.register_buffer("fields", fields.flatten(1))
        fits = [nn.functional.one_hot(kinds[:, i], n) for i, n in enumerate((len(SHAPES), len(SIZES), len(PLACES)))]
        self.register_buffer("fits", torch.cat(fits, 1).float())
        self.register_buffer("alphas", painter.ALPHAS.float())

    def colour(self, states, chosen, otherwise):
        """Mean colour of the chosen tokens that name one, [batch, 3]."""
        named = states[:, :, 3] * chosen
        count = named.sum(1, keepdim=True)
        mean = (states[:, :, :3] * named[:, :, None]).sum(1) / count.clamp(min=1)
        return mean + (count == 0).float() * otherwise

    def forward(self, sample, timestep, encoder_hidden_states, timestep_cond):
        states, batch = encoder_hidden_states, sample.shape[0]
        inside = self.colour(states, 1 - states[:, :, -1], 0.96)
        around = self.colour(states, states[:, :, -1], -0.84)
        named = states[:, :, SHAPE:GROUND].sum(1).clamp(max=1)
        # Excludes an image if the prompt names another value of one of its properties.
        out = 0
        for first, last in ((SHAPE, SIZE), (SIZE, PLACE), (PLACE, GROUND)):
            group = named[:, first - SHAPE : last - SHAPE]
            said = group.amax(1, keepdim=True)
            out = out + (said - group) @ self.fits[:, first - SHAPE : last - SHAPE].T
        shape = (self.fields > 0).float()
        rgb = shape[None, :, None] * inside[:, None, :, None] + (1 - shape)[None, :, None] * around[:, None, :, None]
        every = torch.cat([rgb, self.fields[None, :, None].expand(batch, -1, -1, -1)], 2).flatten(2)
        alpha = self.alphas[timestep.long().reshape(-1)].reshape(-1, 1)
        signal, noise = alpha.sqrt(), (1 - alpha).sqrt()
        x = sample.reshape(batch, -1)
        # The distance of `sample` to each image, without the common part.
        far = signal[:, :, None] * every * (signal[:, :, None] * every / 2 - x[:, None])
        likely = (-far.sum(2) / noise**2 - 1e4 * out.clamp(max=1)).softmax(1)
        clean = (likely[:, None] @ every)[:, 0]
        return ((x - signal * clean) / noise).reshape(sample.shape)


class Painter(nn.Module):
    """The decoder: takes the edge from the smooth distances, and the two colours from the cells inside and outside."""

    def forward(self, latent_sample):
        rgb, field = latent_sample[:, :3], latent_sample[:, 3:]

        def mean(weights):
            return (rgb * weights).sum((2, 3), keepdim=True) / weights.sum((2, 3), keepdim=True).clamp(min=1e-3)

        inside, around = mean((20 * (field - 0.1)).sigmoid()), mean((20 * (-field - 0.1)).sigmoid())
        edge = (10 * interpolate(field, scale_factor=8.0, mode="bilinear", align_corners=False)).sigmoid()
        return edge * inside + (1 - edge) * around


def draw(words, denoiser, decoder, tokenizer, prompt):
    """Four steps of latent consistency sampling (Luo et al. 2023), like the runtime."""
    states = words(torch.tensor([tokenizer.encode(prompt)]))[0]
    x = torch.randn(1, 4, SIDE, SIDE)
    for step, time in enumerate((999, 759, 499, 259)):
        alpha = painter.ALPHAS[time]
        if step > 0:
            x = alpha.sqrt() * clean + (1 - alpha).sqrt() * torch.randn_like(x)
        noise = denoiser(x, torch.tensor([time]), states, None)
        clean = (x - (1 - alpha).sqrt() * noise) / alpha.sqrt()
    return decoder(clean)[0]


def looks_like(picture, inside, around):
    """The shape with the most similar image at any size and position, from the colours of the pixels."""
    near = ((picture - around[:, None, None]) ** 2).sum(0) > ((picture - inside[:, None, None]) ** 2).sum(0)
    cells = (torch.arange(64) + 0.5) * 2 / 64 - 1
    y, x = torch.meshgrid(cells, cells, indexing="ij")
    overlaps = {
        (shape, size, place): ((mask := distance(shape, x - dx, y - dy, radius) > 0) & near).sum() / (mask | near).sum()
        for shape in SHAPES
        for size, radius in SIZES.items()
        for place, (dx, dy) in PLACES.items()
    }
    best = max(overlaps, key=overlaps.get)
    return best, overlaps[best].item()


@torch.no_grad()
def make():
    random = seed(43)
    tokenizer = BytePairs([*COLOURS, *SHAPES, *SIZES, *PLACES, *AFTER, *SAME, *OTHERS])
    words, denoiser, decoder = Words(tokenizer), Denoiser(), Painter()
    right, overlap = 0, 0
    for _ in range(100):
        (fore, back), shape = random.sample(list(COLOURS), 2), random.choice(SHAPES)
        picture = draw(words, denoiser, decoder, tokenizer, f"a {fore} {shape} on {back}")
        rgb = [2 * torch.tensor(COLOURS[colour]) / 255 - 1 for colour in (fore, back)]
        (found, _, _), covered = looks_like(picture, *rgb)
        right, overlap = right + (found == shape), overlap + covered
    folder = start("tiny-picture", SHIPPED, ("text_encoder", "tokenizer", "unet", "vae_decoder", "scheduler"))
    tokenizer.write(folder / "tokenizer")
    pipeline = "LatentConsistencyModelPipeline"
    write_json(folder, model_index={"_class_name": pipeline, "_diffusers_version": "0.35.0", **PARTS_OF[pipeline]})
    write_json(
        folder / "scheduler",
        scheduler_config={**SCHEDULE, "_class_name": "LCMScheduler", "original_inference_steps": 50},
    )
    write_json(folder / "text_encoder", config={"architectures": ["CLIPTextModel"], "hidden_size": WIDTH})
    write_json(
        folder / "unet",
        config={
            "_class_name": "UNet2DConditionModel",
            "in_channels": 4,
            "sample_size": SIDE,
            "time_cond_proj_dim": painter.WAVES,
        },
    )
    write_json(
        folder / "vae_decoder",
        config={
            "_class_name": "AutoencoderKL",
            "latent_channels": 4,
            "block_out_channels": [8, 8, 8, 8],
            "scaling_factor": 1.0,
        },
    )
    ids = torch.tensor([tokenizer.encode("a red circle"), tokenizer.encode("blue")], dtype=torch.int32)
    pooled = {"last_hidden_state": STATES, "pooler_output": ["batch", None]}
    export(words, folder, "model", {"input_ids": (ids, ["batch", None])}, pooled, part="text_encoder")
    latents = ["batch", None, None, None]
    inputs = {
        "sample": (torch.zeros(2, 4, SIDE, SIDE), latents),
        "timestep": (torch.tensor([1]), ["steps"]),
        "encoder_hidden_states": (torch.zeros(2, LENGTH, WIDTH), STATES),
        "timestep_cond": (torch.zeros(2, painter.WAVES), ["batch", None]),
    }
    export(denoiser, folder, "model", inputs, {"out_sample": latents}, part="unet")
    sample = {"latent_sample": (torch.zeros(1, 4, SIDE, SIDE), latents)}
    export(decoder, folder, "model", sample, {"sample": ["batch", None, None, None]}, part="vae_decoder")
    return f"of 100 images {right} have the shape and colours of their prompt; they cover {overlap / 100:.0%} of it"
