"""tiny-sd3, tiny-flux: pipelines of flow matching in the layout of diffusers' exporters; each image has the colour named in the prompt."""
import torch
from torch import nn
from torch.nn.functional import mse_loss

import painter
from byte_pairs import BytePairs
from folder import export, start, write_json
from makers.painters import AllStates, FirstOutputs, LATENTS, PROMPTS, STATES, WIDTH, examples, write_encoder
from training import fit, seed
from transformer import Layer
from word_units import PAD, END, WordUnits

T5_WIDTH = 40
SD3_TOKENS, FLUX_TOKENS = 256, 512
PARTS = ("text_encoder", "tokenizer", "text_encoder_2", "tokenizer_2", "transformer", "vae_decoder", "vae_encoder")


class TextTable(nn.Module):
    """Replaces T5. The state of each token depends only on this token."""

    def __init__(self, tokenizer):
        super().__init__()
        self.tokens, self.out = nn.Embedding(tokenizer.size, T5_WIDTH), nn.Linear(T5_WIDTH, T5_WIDTH)

    def forward(self, input_ids):
        return self.out(torch.tanh(self.tokens(input_ids)))


class ProjectedStates(nn.Module):
    """CLIPTextModelWithProjection: the projection first."""

    def __init__(self, encoder):
        super().__init__()
        self.states = AllStates(encoder, True)

    def forward(self, input_ids):
        return self.states(input_ids)


class Sd3Transformer(painter.Unet):
    """A U-Net with the inputs of SD3Transformer2DModel: the pooled text is joined to the timestep. Esser et al. 2024."""

    def __init__(self):
        super().__init__(T5_WIDTH, WIDTH, extra=2 * WIDTH)

    def forward(self, hidden_states, encoder_hidden_states, pooled_projections, timestep):
        return super().forward(hidden_states, timestep, encoder_hidden_states, pooled_projections)


class FluxTransformer(nn.Module):
    """One layer over tokens of 2 by 2 latents with their places, as FluxTransformer2DModel takes them."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(16, 2 * WIDTH), nn.Linear(2 * WIDTH, 16)
        self.text, self.pooled = nn.Linear(T5_WIDTH, 2 * WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.image_place, self.text_place = nn.Linear(3, 2 * WIDTH), nn.Linear(3, 2 * WIDTH)
        self.time = nn.Sequential(nn.Linear(2 * painter.WAVES, 2 * WIDTH), nn.SiLU(), nn.Linear(2 * WIDTH, 2 * WIDTH))
        self.layer = Layer(2 * WIDTH, 2, pre=True, cross=True)
        self.shape, self.again = nn.Linear(2 * WIDTH, 2 * WIDTH), nn.Linear(16, 16)

    def forward(
        self, hidden_states, encoder_hidden_states, pooled_projections, timestep, img_ids, txt_ids, guidance
    ):
        # The network learned with times of 0 to 1,000; it gets them from 0 to 1.
        time = self.time(torch.cat([painter.waves(timestep * 1000), painter.waves(guidance * 1000)], -1))
        given = (time + self.pooled(pooled_projections))[:, None]
        x = self.enter(hidden_states) + given + 0.01 * self.image_place(img_ids / 8)
        text = self.text(encoder_hidden_states) + 0.01 * self.text_place(txt_ids)
        x, _ = self.layer(x, source=text)
        return self.leave(torch.nn.functional.silu(self.shape(x) + given)) + self.again(hidden_states)


def pack(latents):
    """Tokens of 2 by 2 latents, row by row, and their places. As diffusers' FluxPipeline does it."""
    batch, channels, height, width = latents.shape
    tokens = latents.view(batch, channels, height // 2, 2, width // 2, 2).permute(0, 2, 4, 1, 3, 5)
    rows, columns = torch.meshgrid(torch.arange(height // 2), torch.arange(width // 2), indexing="ij")
    places = torch.stack([rows * 0, rows, columns], -1).reshape(-1, 3).float()
    return tokens.reshape(batch, -1, channels * 4), places


def train(random, parts, pick, velocity, steps):
    """@param velocity  (latents, sigmas, targets) -> the network's output, and the true values in the same order"""

    def loss(size=32):
        means, of_what = pick(size)
        strengths = torch.empty(size, 1, 1, 1).uniform_(0.7, 1.5)
        side = random.choice([4, 4, 8])
        clean = strengths * means[:, :, None, None] + 0.1 * torch.randn(size, 4, side, side)
        sigmas, noise = torch.rand(size), torch.randn_like(clean)
        noisy = (1 - sigmas)[:, None, None, None] * clean + sigmas[:, None, None, None] * noise
        said, truth = velocity(noisy, sigmas, of_what, noise - clean)
        return mse_loss(said, truth)

    fit(nn.ModuleList(parts), steps, loss)
    with torch.no_grad():
        return loss(200).item()


def t5_ids(tokenizer, length):
    return torch.tensor([[*(row := [*tokenizer.encode(prompt), END]), *[PAD] * (length - len(row))] for prompt in PROMPTS])


def write_rest(folder, pipeline, scheduler, transformer):
    write_json(folder, model_index={"_class_name": pipeline, "_diffusers_version": "0.35.0"})
    write_json(folder / "scheduler", scheduler_config={"_class_name": "FlowMatchEulerDiscreteScheduler", **scheduler})
    write_json(folder / "transformer", config=transformer)
    vae = {"_class_name": "AutoencoderKL", "latent_channels": 4, "scaling_factor": painter.SCALING, "shift_factor": 0.5}
    write_json(folder / "vae_decoder", config=vae)
    write_encoder(folder, spread=True)
    latents = {"latent_sample": (torch.zeros(1, 4, 4, 4), LATENTS)}
    export(Shifted(painter.Decoder()), folder, "model", latents, {"sample": LATENTS}, part="vae_decoder")


class Shifted(nn.Module):
    """Inverts the shift of the configuration, so that pipelines without the shift generate other colours."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, latent_sample):
        return self.decoder(latent_sample - 0.5)


def write_t5(folder, suffix, encoder, tokenizer, ids):
    write_json(folder / f"tokenizer{suffix}", **tokenizer.files("T5Tokenizer"))
    write_json(folder / f"text_encoder{suffix}", config={"architectures": ["T5EncoderModel"], "d_model": T5_WIDTH})
    texts = {"input_ids": (ids[:2], ["batch", None])}
    export(encoder, folder, "model", texts, {"last_hidden_state": STATES}, part=f"text_encoder{suffix}")


def make_sd3():
    random = seed(23)
    tokenizers = [BytePairs(PROMPTS), BytePairs(PROMPTS, padding="!")]
    encoders = [painter.TextEncoder(tokenizer, WIDTH) for tokenizer in tokenizers]
    units = WordUnits(PROMPTS)
    table, network = TextTable(units), Sd3Transformer()
    ids = [torch.tensor([tokenizer.encode(prompt) for prompt in PROMPTS]) for tokenizer in tokenizers]
    long_ids = t5_ids(units, SD3_TOKENS)

    def velocity(noisy, sigmas, numbers, truth):
        first, second = (encoder(tokens) for encoder, tokens in zip(encoders, ids))
        clip = torch.cat([first[3][-2], second[3][-2]], -1)
        clip = torch.nn.functional.pad(clip, (0, T5_WIDTH - clip.shape[-1]))
        # Sometimes omits one of the two inputs with the colour, so that the network learns both.
        told = torch.tensor([random.choice([(1.0, 1.0), (0.0, 1.0), (1.0, 0.0)]) for _ in numbers])[:, :, None, None]
        states = torch.cat([clip[numbers] * told[:, 0], table(long_ids)[numbers] * told[:, 1]], 1)
        pooled = torch.cat([first[2], second[2]], -1)[numbers] * told[:, 0, 0]
        return network(noisy, states, pooled, sigmas * 1000), truth

    off = train(random, [*encoders, table, network], examples(random), velocity, 700)
    folder = start("tiny-sd3", "diffusers", (*PARTS, "text_encoder_3", "tokenizer_3", "scheduler"))
    for i, suffix in enumerate(["", "_2"]):
        tokenizers[i].write(folder / f"tokenizer{suffix}")
        kind = {"architectures": ["CLIPTextModelWithProjection"], "hidden_size": WIDTH}
        write_json(folder / f"text_encoder{suffix}", config=kind)
        own = {"text_embeds": ["batch", None], "last_hidden_state": STATES}
        states = {f"hidden_states.{layer}": STATES for layer in range(3)}
        texts = {"input_ids": (ids[i][:2], ["batch", None])}
        export(ProjectedStates(encoders[i]), folder, "model", texts, {**own, **states}, part=f"text_encoder{suffix}")
    write_t5(folder, "_3", table, units, long_ids)
    inputs = {
        "hidden_states": (torch.zeros(2, 4, 4, 4), LATENTS),
        "encoder_hidden_states": (torch.zeros(2, 77 + SD3_TOKENS, T5_WIDTH), STATES),
        "pooled_projections": (torch.zeros(2, 2 * WIDTH), ["batch", None]),
        "timestep": (torch.tensor([1.0, 1.0]), ["batch"]),
    }
    export(network, folder, "model", inputs, {"out_sample": LATENTS}, part="transformer")
    transformer = {"_class_name": "SD3Transformer2DModel", "sample_size": 8, "joint_attention_dim": T5_WIDTH}
    write_rest(folder, "StableDiffusion3Pipeline", {"num_train_timesteps": 1000, "shift": 3.0}, transformer)
    return f"tiny-sd3: error {off:.3f}"


def make_flux():
    random = seed(24)
    clip, units = BytePairs(PROMPTS), WordUnits(PROMPTS)
    encoder, table, network = painter.TextEncoder(clip, WIDTH), TextTable(units), FluxTransformer()
    ids, long_ids = torch.tensor([clip.encode(prompt) for prompt in PROMPTS]), t5_ids(units, FLUX_TOKENS)
    pick = examples(random)

    def guided(size):
        """A larger guidance scale gives a more saturated colour. The network learns a part of this."""
        means, numbers = pick(size)
        scales = torch.tensor([random.uniform(1, 14) for _ in numbers])
        return means * (0.3 + 0.05 * scales)[:, None], (numbers, scales)

    def velocity(noisy, sigmas, of_what, truth):
        numbers, scales = of_what
        tokens, places = pack(noisy)
        told = torch.tensor([random.choice([(1.0, 1.0), (0.0, 1.0), (1.0, 0.0)]) for _ in numbers])
        states = table(long_ids)[numbers] * told[:, :1, None]
        pooled = encoder(ids)[1][numbers] * told[:, 1:]
        said = network(tokens, states, pooled, sigmas, places, torch.zeros(FLUX_TOKENS, 3), scales)
        return said, pack(truth)[0]

    off = train(random, [encoder, table, network], guided, velocity, 700)
    folder = start("tiny-flux", "diffusers", (*PARTS, "scheduler"))
    clip.write(folder / "tokenizer")
    write_json(folder / "text_encoder", config={"architectures": ["CLIPTextModel"], "hidden_size": WIDTH})
    texts = {"input_ids": (ids[:2], ["batch", None])}
    pooled = {"last_hidden_state": STATES, "pooler_output": ["batch", None]}
    export(FirstOutputs(encoder), folder, "model", texts, pooled, part="text_encoder")
    write_t5(folder, "_2", table, units, long_ids)
    inputs = {
        "hidden_states": (torch.zeros(2, 4, 16), ["batch", "image_tokens", None]),
        "encoder_hidden_states": (torch.zeros(2, FLUX_TOKENS, T5_WIDTH), ["batch", "text_tokens", None]),
        "pooled_projections": (torch.zeros(2, WIDTH), ["batch", None]),
        "timestep": (torch.tensor([0.5, 0.5]), ["batch"]),
        "img_ids": (torch.zeros(4, 3), ["image_tokens", None]),
        "txt_ids": (torch.zeros(FLUX_TOKENS, 3), ["text_tokens", None]),
        "guidance": (torch.tensor([3.5, 3.5]), ["batch"]),
    }
    export(network, folder, "model", inputs, {"out_sample": ["batch", "image_tokens", None]}, part="transformer")
    scheduler = {
        "num_train_timesteps": 1000,
        "shift": 3.0,
        "use_dynamic_shifting": True,
        "base_shift": 0.5,
        "max_shift": 1.15,
        "base_image_seq_len": 256,
        "max_image_seq_len": 4096,
    }
    transformer = {"_class_name": "FluxTransformer2DModel", "sample_size": 8, "guidance_embeds": True}
    write_rest(folder, "FluxPipeline", scheduler, transformer)
    return f"tiny-flux: error {off:.3f}"


def make():
    return "; ".join([make_sd3(), make_flux()])
