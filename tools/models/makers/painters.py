"""tiny-sd, tiny-lcm, tiny-sdxl: pipelines in the layout of diffusers' exporters; each image has the colour named in the prompt."""
import torch
from torch import nn

import painter
from byte_pairs import BytePairs
from folder import export, start, write_json
from halve import halve
from training import seed

COLOURS = {
    "red": (1, -1, -1),
    "green": (-1, 1, -1),
    "blue": (-1, -1, 1),
    "yellow": (1, 1, -1),
    "white": (1, 1, 1),
    "black": (-1, -1, -1),
}
TEMPLATES = ["{}", "a {} picture", "a picture of {}", "everything is {}"]
WIDTH = 16
SD_PARTS = ("text_encoder", "tokenizer", "unet", "vae_decoder", "vae_encoder", "scheduler")
SCHEDULE = {
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "num_train_timesteps": painter.TIMES,
    "steps_offset": 1,
    "set_alpha_to_one": False,
    "clip_sample": False,
}
STATES = ["batch", "sequence", None]
LATENTS = ["batch", None, "height", "width"]
PROMPTS = [template.format(colour) for template in TEMPLATES for colour in COLOURS] + [""]


def examples(random):
    """(how many) -> means of the latents, and the prompts' indices; one prompt in eight is empty, with any colour."""

    def pick(size):
        colours = random.choices(range(len(COLOURS)), k=size)
        numbers = [
            len(PROMPTS) - 1 if random.random() < 1 / 8 else random.randrange(len(TEMPLATES)) * len(COLOURS) + colour
            for colour in colours
        ]
        means = torch.tensor([[*rgb, sum(rgb) / 3] for rgb in map(list(COLOURS.values()).__getitem__, colours)])
        return 0.7 * means, numbers

    return pick


def write_common(folder, scheduler, pipeline, unet, decoder):
    write_json(folder, model_index={"_class_name": pipeline, "_diffusers_version": "0.35.0", **PARTS_OF[pipeline]})
    write_json(folder / "scheduler", scheduler_config={**SCHEDULE, **scheduler})
    write_json(folder / "unet", config={"_class_name": "UNet2DConditionModel", "in_channels": 4, **unet})
    write_json(
        folder / "vae_decoder",
        config={
            "_class_name": "AutoencoderKL",
            "latent_channels": 4,
            "block_out_channels": [8, 8, 8, 8],
            "scaling_factor": painter.SCALING,
        },
    )
    if "vae_encoder" in PARTS_OF[pipeline]:
        write_encoder(folder, spread="XL" not in pipeline)
    latents = {"latent_sample": (torch.zeros(1, 4, 4, 4), LATENTS)}
    export(decoder, folder, "model", latents, {"sample": LATENTS}, part="vae_decoder")


def write_encoder(folder, spread):
    """Exporters write the parameters of the latents (mean and logarithm of the variance), or one sample."""
    pixels = {"sample": (torch.zeros(1, 3, 64, 64), LATENTS)}
    name = "latent_parameters" if spread else "latent_sample"
    export(painter.Encoder(spread), folder, "model", pixels, {name: LATENTS}, part="vae_encoder")


CLASSES = {
    "text_encoder": ["transformers", "CLIPTextModel"],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae_decoder": ["diffusers", "AutoencoderKL"],
    "vae_encoder": ["diffusers", "AutoencoderKL"],
    "scheduler": ["diffusers", "EulerDiscreteScheduler"],
}
PARTS_OF = {
    "StableDiffusionPipeline": CLASSES,
    # Without an encoder: it draws from noise only.
    "LatentConsistencyModelPipeline": {
        **{part: kind for part, kind in CLASSES.items() if part != "vae_encoder"},
        "scheduler": ["diffusers", "LCMScheduler"],
    },
    "StableDiffusionXLPipeline": {
        **CLASSES,
        "scheduler": ["diffusers", "DDIMScheduler"],
        "text_encoder_2": ["transformers", "CLIPTextModelWithProjection"],
        "tokenizer_2": ["transformers", "CLIPTokenizer"],
        "force_zeros_for_empty_prompt": True,
    },
}


class FirstOutputs(nn.Module):
    """The outputs of CLIPTextModel."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids):
        return self.encoder(input_ids)[:2]


class AllStates(nn.Module):
    """The exporters' outputs of SDXL's text encoders: the pooled output and the hidden states of every layer."""

    def __init__(self, encoder, projected):
        super().__init__()
        self.encoder, self.projected = encoder, projected

    def forward(self, input_ids):
        last, pooled, projection, states = self.encoder(input_ids)
        return (projection, last, *states) if self.projected else (last, pooled, *states)


def make_sd(name, guided):
    random = seed(21)
    tokenizer = BytePairs(PROMPTS)
    encoder = painter.TextEncoder(tokenizer, WIDTH)
    unet = painter.Unet(WIDTH, WIDTH, extra=painter.WAVES if guided else 0)
    ids = torch.tensor([tokenizer.encode(prompt) for prompt in PROMPTS], dtype=torch.int32)
    pick = examples(random)

    def guided_examples(size):
        """Guidance from 1 to 14 sets the colour's saturation, like that of a guided network; it is an input embedding."""
        means, numbers = pick(size)
        scales = torch.tensor([random.uniform(1, 14) for _ in numbers])
        return means * (0.3 + 0.05 * scales)[:, None], (numbers, embedded_guidance(scales))

    def paint(latents, times, of_what):
        numbers, extra = of_what if guided else (of_what, None)
        return unet(latents, times, encoder(ids)[0][numbers], extra)

    off = painter.train(random, [encoder, unet], guided_examples if guided else pick, paint, "epsilon")
    folder = start(name, "diffusers", [part for part in SD_PARTS if part != "vae_encoder" or not guided])
    tokenizer.write(folder / "tokenizer")
    write_json(folder / "text_encoder", config={"architectures": ["CLIPTextModel"], "hidden_size": WIDTH})
    texts = {"input_ids": (ids[:2], ["batch", None])}
    pooled = {"last_hidden_state": STATES, "pooler_output": ["batch", None]}
    export(FirstOutputs(encoder), folder, "model", texts, pooled, part="text_encoder")
    inputs = {
        "sample": (torch.zeros(2, 4, 4, 4), LATENTS),
        "timestep": (torch.tensor([1]), ["steps"]),
        "encoder_hidden_states": (torch.zeros(2, 77, WIDTH), STATES),
    }
    if guided:
        inputs["timestep_cond"] = (torch.zeros(2, painter.WAVES), ["batch", None])
        scheduler, pipeline = {
            "_class_name": "LCMScheduler",
            "original_inference_steps": 50,
        }, "LatentConsistencyModelPipeline"
    else:
        scheduler, pipeline = {
            "_class_name": "EulerDiscreteScheduler",
            "timestep_spacing": "leading",
        }, "StableDiffusionPipeline"
    export(unet, folder, "model", inputs, {"out_sample": LATENTS}, part="unet")
    config = {"sample_size": 8, "time_cond_proj_dim": painter.WAVES if guided else None}
    write_common(folder, scheduler, pipeline, config, painter.Decoder())
    if not guided:
        for part in ("text_encoder", "unet", "vae_decoder"):
            halve(folder / part)
    return f"{name}: error {off:.3f} of noise 1"


def embedded_guidance(scales):
    """Luo et al. 2023, as in diffusers' pipeline: sines first, of 1,000 * (scale - 1)."""
    half = painter.WAVES // 2
    rates = torch.exp(-torch.log(torch.tensor(10_000.0)) * torch.arange(half) / (half - 1))
    angles = 1000 * (scales - 1)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], -1)


def make_sdxl():
    random = seed(22)
    tokenizers = [BytePairs(PROMPTS), BytePairs(PROMPTS, padding="!")]
    encoders = [painter.TextEncoder(tokenizer, WIDTH) for tokenizer in tokenizers]
    unet = XlUnet()
    ids = [torch.tensor([tokenizer.encode(prompt) for prompt in PROMPTS]) for tokenizer in tokenizers]
    empty = len(PROMPTS) - 1
    pick = examples(random)

    def paint(latents, times, numbers):
        first, second = (encoder(tokens) for encoder, tokens in zip(encoders, ids))
        # No prompt means zeros, not an empty text.
        given = torch.tensor([[float(number != empty)] for number in numbers])
        states = torch.cat([first[3][-2], second[3][-2]], -1)[numbers] * given[:, :, None]
        sizes = torch.tensor([[random.choice([64.0, 128.0])] * 2 + [0.0, 0.0] + [64.0, 64.0] for _ in numbers])
        return unet(latents, times, states, second[2][numbers] * given, sizes)

    off = painter.train(random, [*encoders, unet], pick, paint, "v_prediction")
    folder = start("tiny-sdxl", "diffusers", (*SD_PARTS, "text_encoder_2", "tokenizer_2"))
    states = {f"hidden_states.{i}": STATES for i in range(3)}
    for i, suffix in enumerate(["", "_2"]):
        tokenizers[i].write(folder / f"tokenizer{suffix}")
        kind = "CLIPTextModelWithProjection" if i else "CLIPTextModel"
        write_json(folder / f"text_encoder{suffix}", config={"architectures": [kind], "hidden_size": WIDTH})
        first = {"text_embeds": ["batch", None], "last_hidden_state": STATES}
        own = first if i else {"last_hidden_state": STATES, "pooler_output": ["batch", None]}
        texts = {"input_ids": (ids[i][:2], ["batch", None])}
        export(AllStates(encoders[i], bool(i)), folder, "model", texts, {**own, **states}, part=f"text_encoder{suffix}")
    inputs = {
        "sample": (torch.zeros(2, 4, 4, 4), LATENTS),
        "timestep": (torch.tensor(1.0), []),
        "encoder_hidden_states": (torch.zeros(2, 77, 2 * WIDTH), STATES),
        "text_embeds": (torch.zeros(2, WIDTH), ["batch", None]),
        "time_ids": (torch.zeros(2, 6), ["batch", None]),
    }
    export(unet, folder, "model", inputs, {"out_sample": LATENTS}, part="unet")
    scheduler = {"_class_name": "DDIMScheduler", "prediction_type": "v_prediction", "timestep_spacing": "trailing"}
    write_common(folder, scheduler, "StableDiffusionXLPipeline", {"sample_size": 8}, painter.Decoder())
    return f"tiny-sdxl: error {off:.3f} of 1"


class XlUnet(painter.Unet):
    """Podell et al. 2023: the pooled text and the image's sizes are joined to the timestep."""

    def __init__(self):
        super().__init__(2 * WIDTH, WIDTH, extra=WIDTH + 6 * 8)

    def forward(self, sample, timestep, encoder_hidden_states, text_embeds, time_ids):
        extra = torch.cat([text_embeds, painter.waves(time_ids, 8).flatten(1)], -1)
        return super().forward(sample, timestep, encoder_hidden_states, extra)


def make():
    return "; ".join([make_sd("tiny-sd", False), make_sd("tiny-lcm", True), make_sdxl()])
