"""tiny-depth: DPT for depth-estimation; bright means near."""
import torch
from torch import nn
from torch.nn.functional import interpolate, mse_loss

import box_images
from folder import export, start, write_json
from training import fit, seed
from transformer import Encoder

WIDTH, PATCH = 32, 8


class Dpt(nn.Module):
    """ViT over patches; its patches, put back in place and enlarged, are fused with the image's edges. Ranftl et al. 2021, §3."""

    def __init__(self):
        super().__init__()
        cells = (box_images.SIDE // PATCH) ** 2
        self.patches, self.places = nn.Conv2d(3, WIDTH, PATCH, PATCH), nn.Parameter(torch.randn(cells, WIDTH) * 0.1)
        self.encoder = Encoder(WIDTH, 2, 1, pre=True)
        self.enlarge, self.edges = nn.ConvTranspose2d(WIDTH, 8, PATCH // 2, PATCH // 2), nn.Conv2d(3, 8, 3, 2, 1)
        self.head = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1), nn.ReLU(), nn.Conv2d(8, 1, 1), nn.ReLU())

    def forward(self, pixel_values):
        cells = self.patches(pixel_values).flatten(2).transpose(1, 2)
        rows = box_images.SIDE // PATCH
        states = self.encoder(cells + self.places).transpose(1, 2).reshape(-1, WIDTH, rows, rows)
        fused = self.enlarge(states) + self.edges(pixel_values)
        return self.head(interpolate(fused, scale_factor=2.0, mode="bilinear", align_corners=False))[:, 0]


def make():
    random = seed(12)
    model = Dpt()

    def loss(size=16):
        images = torch.stack([box_images.ground() for _ in range(size)])
        for image in images:
            left, top, right, bottom = box_images.random_box(random)
            image[:, top:bottom, left:right] = random.uniform(-1, 1)
        # Depth from 0 (black) to 10 (white).
        return mse_loss(model(images), (images.mean(1) + 1) * 5)

    fit(model, 300, loss, rate=5e-3)
    with torch.no_grad():
        off = loss(100).sqrt().item()
    folder = start("tiny-depth")
    write_json(
        folder,
        preprocessor_config=box_images.preprocessor("DPT"),
        config={
            "model_type": "dpt",
            "architectures": ["DPTForDepthEstimation"],
            "hidden_size": WIDTH,
            "image_size": box_images.SIDE,
            "patch_size": PATCH,
        },
    )
    export(
        model,
        folder,
        "model",
        {"pixel_values": (torch.zeros(2, 3, 32, 32), ["batch", None, None, None])},
        {"predicted_depth": ["batch", None, None]},
    )
    return f"depth from 0 to 10, off by {off:.2f} (root mean square)"
