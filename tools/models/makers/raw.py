"""raw-tensors: a graph without a task; two inputs, two outputs, float32 and int64, one open dimension."""
import torch
from torch import nn

from folder import export, start


class Graph(nn.Module):
    """scores = features * weights + row, best = index of the highest: known weights, so that answers can be computed by hand."""

    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]))
        self.rows = nn.Parameter(torch.tensor([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]]))

    def forward(self, features, kind):
        scores = features @ self.weights + self.rows[kind]
        return scores, scores.argmax(-1)


def make():
    inputs = {"features": (torch.ones(2, 2), ["rows", None]), "kind": (torch.tensor([0, 1]), ["rows"])}
    export(Graph(), start("raw-tensors"), "model", inputs, {"scores": ["rows", None], "best": ["rows"]})
    return "features float32 [rows, 2], kind int64 [rows] in; scores float32 [rows, 3], best int64 [rows] out"
