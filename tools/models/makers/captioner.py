"""tiny-captioner: a vision-encoder-decoder (ViT and GPT-2) for image-to-text; names the colour and the position of a box."""
import torch
from torch import nn

import box_images
import seq2seq
from folder import start, write_json
from training import fit, seed
from transformer import Encoder
from word_units import END, PAD, WordUnits

PATCH, WIDTH = 8, seq2seq.WIDTH
CELLS = (box_images.SIDE // PATCH) ** 2


class Vit(nn.Module):
    """Patches, a class token and learned positions, then the layers. Dosovitskiy et al. 2020, §3.1."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.class_token, self.places = nn.Parameter(torch.zeros(1, 1, WIDTH)), nn.Parameter(
            torch.randn(CELLS + 1, WIDTH) * 0.5
        )
        self.encoder = Encoder(WIDTH, seq2seq.HEADS, 1, pre=True)

    def forward(self, pixel_values):
        cells = self.patches(pixel_values).flatten(2).transpose(1, 2)
        first = self.class_token.expand(pixel_values.shape[0], -1, -1)
        return self.encoder(torch.cat([first, cells], 1) + self.places)


def make():
    random = seed(10)
    half = box_images.SIDE // 2
    sides = {"left": 0, "right": half}
    tokenizer = WordUnits(
        [f"a {colour} box on the {side}" for colour in box_images.COLOURS for side in sides] + ["nothing"]
    )
    model = seq2seq.EncoderDecoder(Vit(), tokenizer.size, masked=False, pre=True)

    def draw():
        """An image and its caption."""
        picture = box_images.ground()
        if random.random() < 0.1:
            return picture, "nothing"
        colour, side = random.choice(list(box_images.COLOURS)), random.choice(list(sides))
        left, top, right, bottom = box_images.random_box(random, width=half)
        box_images.paint(picture, colour, left + sides[side], top, right + sides[side], bottom)
        return picture, f"a {colour} box on the {side}"

    def batch(size):
        images, captions = zip(*(draw() for _ in range(size)))
        return (
            (torch.stack(images),),
            torch.full((size, 1), PAD),
            seq2seq.pad([[*tokenizer.encode(text), END] for text in captions]),
        )

    fit(model, 300, lambda: model.loss(*batch(32)), rate=2e-3)
    right = model.count_right(*batch(200))
    folder = start("tiny-captioner")
    tokens = {"decoder_start_token_id": PAD, "eos_token_id": END, "pad_token_id": PAD}
    gpt2 = {
        "model_type": "gpt2",
        "n_layer": 1,
        "n_head": seq2seq.HEADS,
        "n_embd": WIDTH,
        "n_positions": seq2seq.POSITIONS,
        "vocab_size": tokenizer.size,
        "add_cross_attention": True,
        "is_decoder": True,
    }
    vit = {"model_type": "vit", "hidden_size": WIDTH, "image_size": box_images.SIDE, "patch_size": PATCH}
    write_json(
        folder,
        **tokenizer.files("PreTrainedTokenizer"),
        preprocessor_config=box_images.preprocessor("ViT"),
        config={
            "model_type": "vision-encoder-decoder",
            "architectures": ["VisionEncoderDecoderModel"],
            "is_encoder_decoder": True,
            "encoder": vit,
            "decoder": gpt2,
            **tokens,
        },
        generation_config={**tokens, "max_new_tokens": 16},
    )
    images = torch.zeros(2, 3, box_images.SIDE, box_images.SIDE)
    seq2seq.write(folder, model, {"pixel_values": (images, ["batch_size", None, None, None])}, None, cache_name="{}.{}")
    return f"{right} of 200 new images have the correct caption"
