"""
Dynamic quantisation to 8 bits, the `q8` of transformers.js: weights are int8 with one scale for each tensor; what comes in is
quantised as it comes (DynamicQuantizeLinear, MatMulInteger). Biases, norms and what lies between stay float32.
"""
import numpy
import onnx
from onnx import helper, numpy_helper


def quantise(folder, file="model"):
    """Writes `<file>_quantized.onnx` next to `<file>.onnx`."""
    model = onnx.load(str(folder / "onnx" / f"{file}.onnx"))
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    done, nodes = {}, []
    for node in graph.node:
        matrix = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        name = node.input[matrix] if matrix is not None else ""
        is_weight = (
            name in weights and weights[name].data_type == onnx.TensorProto.FLOAT and len(weights[name].dims) == 2
        )
        if is_weight and name not in done:
            done[name] = to_int8(graph, weights[name])
        nodes += (matmul if node.op_type == "MatMul" else gather)(node, *done[name]) if is_weight else [node]
    del graph.node[:]
    graph.node.extend(nodes)
    # A table shared by a Gather and a Gemm is kept for the one that was not rewritten.
    used = {name for node in graph.node for name in node.input}
    for name in done:
        if name not in used:
            graph.initializer.remove(weights[name])
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "onnx" / f"{file}_quantized.onnx"))


def to_int8(graph, tensor):
    values = numpy_helper.to_array(tensor)
    scale = numpy.float32(max(abs(values).max() / 127, 1e-9))
    names = [f"{tensor.name}_{part}" for part in ("int8", "scale", "zero")]
    parts = [numpy.round(values / scale).astype(numpy.int8), scale, numpy.int8(0)]
    graph.initializer.extend(numpy_helper.from_array(numpy.asarray(part), name) for part, name in zip(parts, names))
    return names


def matmul(node, weight, scale, zero):
    to = node.output[0]
    x = [f"{to}_{part}" for part in ("x", "x_scale", "x_zero")]
    return [
        helper.make_node("DynamicQuantizeLinear", [node.input[0]], x),
        helper.make_node("MatMulInteger", [x[0], weight, x[2], zero], [f"{to}_int32"]),
        helper.make_node("Cast", [f"{to}_int32"], [f"{to}_float"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", [x[1], scale], [f"{to}_scale"]),
        helper.make_node("Mul", [f"{to}_float", f"{to}_scale"], [to]),
    ]


def gather(node, weight, scale, zero):
    to = node.output[0]
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    return [
        helper.make_node("Gather", [weight, node.input[1]], [f"{to}_int8"], **attributes),
        helper.make_node("DequantizeLinear", [f"{to}_int8", scale, zero], [to]),
    ]
