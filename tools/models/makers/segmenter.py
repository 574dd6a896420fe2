"""tiny-segformer: SegFormer for image-segmentation; each cell of 4 by 4 pixels is ground, red or blue."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import box_images
from folder import export, labels, start, write_json
from training import fit, seed
from transformer import Attention

WIDTH, CLASSES, STRIDE = 16, ["ground", "red", "blue"], 4


class Segformer(nn.Module):
    """One stage: overlapping patches, attention, a feed-forward with a depth-wise convolution, a head. Xie et al. 2021, §3."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 7, STRIDE, 3)
        self.norms, self.attention = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3)), Attention(WIDTH, 2)
        self.widen, self.mix, self.narrow = (
            nn.Linear(WIDTH, 2 * WIDTH),
            nn.Conv2d(2 * WIDTH, 2 * WIDTH, 3, 1, 1, groups=2 * WIDTH),
            nn.Linear(2 * WIDTH, WIDTH),
        )
        self.head = nn.Linear(WIDTH, len(CLASSES))

    def forward(self, pixel_values):
        cells = self.patches(pixel_values)
        height, width = cells.shape[2], cells.shape[3]
        x = self.norms[0](cells.flatten(2).transpose(1, 2))
        x = x + self.attention(self.norms[1](x))[0]
        wide = self.widen(self.norms[2](x)).transpose(1, 2).reshape(-1, 2 * WIDTH, height, width)
        x = x + self.narrow(nn.functional.gelu(self.mix(wide)).flatten(2).transpose(1, 2))
        return self.head(x).transpose(1, 2).reshape(-1, len(CLASSES), height, width)


def make():
    random = seed(11)
    model = Segformer()

    def batch(size):
        images, answers = [box_images.ground() for _ in range(size)], torch.zeros(
            size, box_images.SIDE, box_images.SIDE, dtype=torch.long
        )
        for image, answer in zip(images, answers):
            for colour in random.sample(["red", "blue"], random.randint(0, 2)):
                left, top, right, bottom = box_images.random_box(random)
                box_images.paint(image, colour, left, top, right, bottom)
                answer[top:bottom, left:right] = CLASSES.index(colour)
        # The class of a cell is the class at its middle.
        return torch.stack(images), answers[:, STRIDE // 2 :: STRIDE, STRIDE // 2 :: STRIDE]

    def loss():
        images, answers = batch(16)
        return cross_entropy(model(images), answers)

    fit(model, 300, loss, rate=5e-3)
    images, answers = batch(100)
    right = (model(images).argmax(1) == answers).float().mean().item()
    folder = start("tiny-segformer")
    write_json(
        folder,
        preprocessor_config=box_images.preprocessor("Segformer", feature_extractor_type="SegformerFeatureExtractor"),
        config={
            "model_type": "segformer",
            "architectures": ["SegformerForSemanticSegmentation"],
            "hidden_sizes": [WIDTH],
            **labels(*CLASSES),
        },
    )
    export(
        model,
        folder,
        "model",
        {"pixel_values": (torch.zeros(2, 3, 32, 32), ["batch", None, "height", "width"])},
        {"logits": ["batch", None, "rows", "columns"]},
    )
    return f"{right:.2%} of the cells of 100 new images are correct"
