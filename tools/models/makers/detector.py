"""tiny-detr: DETR for object-detection; finds a red and a blue box, each with its own object query, so no matching is needed."""
import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import box_images
from folder import export, labels, start, write_json
from training import fit, seed
from transformer import Encoder, Layer

WIDTH, QUERIES, CLASSES = 32, 4, ["red box", "blue box"]
NOTHING = len(CLASSES)


class Detr(nn.Module):
    """Convolutions, an encoder over their output, a decoder over learned queries, a class and a box for each. Carion et al. 2020, §3.2."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, WIDTH, 3, 2, 1))
        self.place = nn.Linear(16, WIDTH)
        self.queries = nn.Parameter(torch.randn(QUERIES, WIDTH))
        self.encoder, self.decoder = Encoder(WIDTH, 4, 1), nn.ModuleList(Layer(WIDTH, 4, cross=True) for _ in range(2))
        self.classes = nn.Linear(WIDTH, len(CLASSES) + 1)
        self.boxes = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4))
        self.register_buffer("turns", torch.tensor([0.5, 1.0, 2.0, 4.0]))

    def waves(self, count):
        """Sines and cosines of the positions along one side, [count, 8]."""
        place = (torch.arange(count).float() + 0.5) / count * math.pi
        turns = place[:, None] * self.turns
        return torch.cat([turns.sin(), turns.cos()], -1)

    def forward(self, pixel_values):
        cells = self.backbone(pixel_values)
        height, width = cells.shape[2], cells.shape[3]
        down, across = self.waves(height), self.waves(width)
        both = torch.cat([down[:, None].expand(-1, width, -1), across[None].expand(height, -1, -1)], -1)
        states = self.encoder((cells.permute(0, 2, 3, 1) + self.place(both)).flatten(1, 2))
        x = self.queries[None].expand(pixel_values.shape[0], -1, -1)
        for layer in self.decoder:
            x, _ = layer(x, source=states)
        return self.classes(x), self.boxes(x).sigmoid()


def make():
    random = seed(6)
    model = Detr()

    def batch(size):
        # The processor scales the shorter side to 32.
        height, width = random.choice([(32, 32), (32, 43), (43, 32)])
        images = [box_images.ground(height, width) for _ in range(size)]
        classes, boxes = torch.full((size, QUERIES), NOTHING), torch.zeros(size, QUERIES, 4)
        for i, image in enumerate(images):
            for query, colour in random.sample([(0, "red"), (1, "blue")], random.choice([0, 1, 1, 2])):
                left, top, right, bottom = box_images.random_box(random, height, width)
                box_images.paint(image, colour, left, top, right, bottom)
                classes[i, query] = query
                middle = (left + right) / 2 / width, (top + bottom) / 2 / height
                boxes[i, query] = torch.tensor([*middle, (right - left) / width, (bottom - top) / height])
        return torch.stack(images), classes, boxes

    def loss():
        images, classes, boxes = batch(32)
        scores, places = model(images)
        return cross_entropy(scores.transpose(1, 2), classes) + 5 * (places - boxes)[classes != NOTHING].abs().mean()

    fit(model, 800, loss)
    images, classes, boxes = batch(200)
    scores, places = model(images)
    right = (scores.argmax(-1) == classes).float().mean().item()
    off = (places - boxes)[classes != NOTHING].abs().mean().item()
    folder = start("tiny-detr")
    write_json(
        folder,
        config={
            "model_type": "detr",
            "architectures": ["DetrForObjectDetection"],
            "d_model": WIDTH,
            "num_queries": QUERIES,
            **labels(*CLASSES),
        },
        preprocessor_config=box_images.preprocessor(
            "Detr", feature_extractor_type="DetrFeatureExtractor", size={"shortest_edge": 32, "longest_edge": 64}
        ),
    )
    export(
        model,
        folder,
        "model",
        {"pixel_values": (torch.zeros(2, 3, 32, 43), ["batch", None, "height", "width"])},
        {"logits": ["batch", "queries", None], "pred_boxes": ["batch", "queries", None]},
    )
    return f"{right:.2%} of the queries' classes right, box edges off by {off:.2%} of a side in the mean"
