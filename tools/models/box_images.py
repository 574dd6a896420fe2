"""Images of coloured boxes on a dark ground, as transformers.js passes them to a model: float32 [3, height, width] from -1 to 1."""
import torch

COLOURS = {"red": (255, 40, 40), "green": (40, 255, 40), "blue": (40, 40, 255), "white": (255, 255, 255)}
SIDE = 32


def ground(height=SIDE, width=SIDE):
    return torch.rand(3, height, width) * 0.1 - 1


def paint(picture, colour, left, top, right, bottom):
    """Fills a box; edges in pixels, the last excluded."""
    picture[:, top:bottom, left:right] = torch.tensor(COLOURS[colour]).view(3, 1, 1) / 127.5 - 1


def random_box(random, height=SIDE, width=SIDE):
    """left, top, right, bottom: a quarter to a half of each side"""
    across, down = random.randint(width // 4, width // 2), random.randint(height // 4, height // 2)
    left, top = random.randint(0, width - across), random.randint(0, height - down)
    return left, top, left + across, top + down


def preprocessor(kind, **changes):
    """preprocessor_config.json that scales to SIDE by SIDE and to -1..1."""
    half = [0.5, 0.5, 0.5]
    return {
        "image_processor_type": f"{kind}ImageProcessor",
        "do_resize": True,
        "size": {"height": SIDE, "width": SIDE},
        "resample": 2,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": half,
        "image_std": half,
        **changes,
    }
