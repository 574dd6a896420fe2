"""Writes a model folder in transformers.js' layout (configuration, tokenizer, `onnx/*.onnx`) or in diffusers' (a folder for each part)."""
import json
import shutil
from pathlib import Path

import torch

FIXTURES = Path(__file__).parents[2] / "test" / "fixtures"


def start(name, kind="onnx", parts=("onnx",)):
    """Creates an empty folder for the model."""
    folder = FIXTURES / kind / name
    shutil.rmtree(folder, ignore_errors=True)
    for part in parts:
        (folder / part).mkdir(parents=True)
    return folder


def write_json(folder, **files):
    for name, content in files.items():
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def labels(*names):
    return {
        "id2label": {str(i): name for i, name in enumerate(names)},
        "label2id": {name: i for i, name in enumerate(names)},
    }


def export(module, folder, file, inputs, outputs, part="onnx"):
    """
    @param inputs   name -> (example, names of its dimensions); a None among them is fixed at the example's size
    @param outputs  name -> names of its dimensions
    """
    dims = {name: names for name, (_, names) in inputs.items()} | outputs
    torch.onnx.export(
        module.eval(),
        tuple(example for example, _ in inputs.values()),
        str(folder / part / f"{file}.onnx"),
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_axes={name: {i: dim for i, dim in enumerate(names) if dim} for name, names in dims.items()},
        opset_version=13,
    )
