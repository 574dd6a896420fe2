"""Converts a graph to float16 like the exporters: every float32 weight, input and output becomes float16."""
import numpy
import onnx
from onnx import TensorProto, numpy_helper


def halve(folder, file="model"):
    """Writes `<file>_fp16.onnx` next to `<file>.onnx`."""
    model = onnx.load(str(folder / f"{file}.onnx"))
    graph = model.graph
    # The scales of Resize stay float32.
    kept = {node.input[2] for node in graph.node if node.op_type == "Resize" and len(node.input) > 2}
    for tensor in graph.initializer:
        if tensor.name not in kept:
            halve_tensor(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
            if attribute.type == onnx.AttributeProto.TENSOR and node.output[0] not in kept:
                halve_tensor(attribute.t)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / f"{file}_fp16.onnx"))


def halve_tensor(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float16), tensor.name))
