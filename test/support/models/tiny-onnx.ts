/** Minimal ONNX graphs for tests of single operators. Source: onnx.proto of ONNX 1.8 (opset 13). */

const ELEMENT_TYPES = { float32: 1, int64: 7, bool: 9, float16: 10 } as const;
const WIRE_VARINT = 0;
const WIRE_BYTES = 2;

export interface GraphValue {
  readonly name: string;
  readonly type: keyof typeof ELEMENT_TYPES;
  /** Sizes. A name stands for a dynamic size. */
  readonly shape: readonly (number | string)[];
}

export interface GraphNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
}

/** Encodes a model file. The nodes have no attributes and no weights. */
export function makeOnnx(
  nodes: readonly GraphNode[],
  inputs: readonly GraphValue[],
  outputs: readonly GraphValue[],
): Buffer {
  const graph = Buffer.concat([
    ...nodes.map(({ operator, inputs, output }) =>
      bytes(1, [...inputs.map((name) => text(1, name)), text(2, output), text(4, operator)]),
    ),
    text(2, "graph"),
    ...inputs.map((value) => bytes(11, [describeValue(value)])),
    ...outputs.map((value) => bytes(12, [describeValue(value)])),
  ]);
  return Buffer.concat([varintField(1, 8), bytes(7, [graph]), bytes(8, [varintField(2, 13)])]);
}

/**
 * Encodes a model that squares a zero matrix `steps` times. Its input `size` [n, n] determines the duration of a job.
 */
export function makeSlowOnnx(steps: number): Buffer {
  const nodes = Array.from({ length: steps }, (_, i) => ({
    operator: "MatMul",
    inputs: [`h${i}`, `h${i}`],
    output: `h${i + 1}`,
  }));
  return makeOnnx(
    [
      { operator: "ConstantOfShape", inputs: ["size"], output: "h0" },
      ...nodes,
      { operator: "Shape", inputs: [`h${steps}`], output: "shape" },
    ],
    [{ name: "size", type: "int64", shape: [2] }],
    [{ name: "shape", type: "int64", shape: [2] }],
  );
}

function describeValue({ name, type, shape }: GraphValue): Buffer {
  const sizes = shape.map((size) => bytes(1, [typeof size === "number" ? varintField(1, size) : text(2, size)]));
  return Buffer.concat([text(1, name), bytes(2, [bytes(1, [varintField(1, ELEMENT_TYPES[type]), bytes(2, sizes)])])]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, [Buffer.from(value)]);
}

function bytes(field: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([varint((field << 3) | WIRE_BYTES), varint(content.length), content]);
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint((field << 3) | WIRE_VARINT), varint(value)]);
}

function varint(value: number): Buffer {
  const septets: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...septets, rest]);
    septets.push((rest & 127) | 128);
  }
}
