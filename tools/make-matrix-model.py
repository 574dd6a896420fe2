"""Makes island-agent/doctor/matrix.onnx, with which `island doctor` measures the matrix rate.

One number in, one out. The number fills a square matrix, which is multiplied with itself again and again; with 1 / SIZE every
product is the same matrix, so that nothing overflows. Needs Debian's python3-onnx.
"""

from pathlib import Path

from onnx import TensorProto, checker, helper

SIZE = 512
PRODUCTS = 40

nodes = [helper.make_node("Expand", ["number", "shape"], ["m0"])]
nodes += [helper.make_node("MatMul", [f"m{step}", "m0"], [f"m{step + 1}"]) for step in range(PRODUCTS)]
nodes += [helper.make_node("ReduceMax", [f"m{PRODUCTS}"], ["most"], keepdims=0)]
graph = helper.make_graph(
    nodes,
    "matrix",
    [helper.make_tensor_value_info("number", TensorProto.FLOAT, [1])],
    [helper.make_tensor_value_info("most", TensorProto.FLOAT, [])],
    [helper.make_tensor("shape", TensorProto.INT64, [2], [SIZE, SIZE])],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
checker.check_model(model)
out = Path(__file__).parent.parent / "island-agent" / "doctor" / "matrix.onnx"
out.write_bytes(model.SerializeToString())
print(f"{out.name}: {out.stat().st_size} bytes, {PRODUCTS} products of {SIZE} x {SIZE}")
