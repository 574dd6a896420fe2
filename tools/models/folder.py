"""Writes a model folder in transformers.js' layout (configuration, tokenizer, `onnx/*.onnx`) or in diffusers' (a folder for each part)."""
import hashlib
import json
import shutil
from pathlib import Path

import torch

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "test" / "fixtures"
SHIPPED = ROOT / "catalog" / "models"


def start(name, kind="onnx", parts=("onnx",)):
    """Creates an empty folder for the model under the fixtures of its kind, or under `kind` if that is a Path."""
    folder = FIXTURES / kind / name
    shutil.rmtree(folder, ignore_errors=True)
    for part in parts:
        (folder / part).mkdir(parents=True)
    return folder


def write_json(folder, **files):
    for name, content in files.items():
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def list_files(folder):
    """Writes `files.json` of a shipped folder, and its hash into the Cargo of the same name. docs/reference/cargo-format.md, "Models"."""
    (folder / "files.json").unlink(missing_ok=True)
    files = [
        {
            "path": path.relative_to(folder).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    write_json(folder, files={"files": files})
    cargo = ROOT / "catalog" / "cargos" / f"{folder.name}.json"
    content = json.loads(cargo.read_text(encoding="utf-8"))
    content["model"]["sha256"] = hashlib.sha256((folder / "files.json").read_bytes()).hexdigest()
    cargo.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


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
