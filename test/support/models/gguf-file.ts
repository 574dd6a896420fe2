/** Writes GGUF files. Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3. */

const ALIGNMENT = 32;
const TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const GGML_F32 = 0;
const GGML_F16 = 1;

export type GgufValue =
  | { type: "uint32" | "int32" | "float32"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "array"; of: "string" | "int32" | "float32"; value: readonly (string | number)[] };

/** Values. Default: zeros, as f16 for a matrix and f32 otherwise. */
export interface GgufTensor {
  readonly name: string;
  /** Dimensions, the fastest varying first. */
  readonly dims: readonly number[];
  readonly data?: Float32Array;
}

export function encodeGguf(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Buffer {
  let offset = 0;
  const infos = tensors.map((tensor) => {
    const info = encodeTensorInfo(tensor, offset);
    offset += padded(bytesOf(tensor));
    return info;
  });
  const entries = Object.entries(metadata);
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    uint32(3),
    uint64(tensors.length),
    uint64(entries.length),
    ...entries.map(([key, value]) => Buffer.concat([string(key), encodeValue(value)])),
    ...infos,
  ]);
  const padding = Buffer.alloc(padded(head.length) - head.length);
  return Buffer.concat([head, padding, ...tensors.map(encodeTensor)]);
}

function typeOf({ dims, data }: GgufTensor): number {
  return dims.length > 1 && data === undefined ? GGML_F16 : GGML_F32;
}

function bytesOf(tensor: GgufTensor): number {
  return tensor.dims.reduce((product, dim) => product * dim, 1) * (typeOf(tensor) === GGML_F32 ? 4 : 2);
}

function encodeTensorInfo(tensor: GgufTensor, offset: number): Buffer {
  const { name, dims } = tensor;
  return Buffer.concat([
    string(name),
    uint32(dims.length),
    ...dims.map(uint64),
    uint32(typeOf(tensor)),
    uint64(offset),
  ]);
}

function encodeTensor(tensor: GgufTensor): Buffer {
  const bytes = Buffer.alloc(padded(bytesOf(tensor)));
  if (tensor.data !== undefined) Buffer.from(tensor.data.buffer).copy(bytes);
  return bytes;
}

function encodeValue(value: GgufValue): Buffer {
  if (value.type !== "array") return Buffer.concat([uint32(TYPE[value.type]), encodeScalar(value.type, value.value)]);
  const items = value.value.map((item) => encodeScalar(value.of, item));
  return Buffer.concat([uint32(TYPE.array), uint32(TYPE[value.of]), uint64(items.length), ...items]);
}

function encodeScalar(
  type: "uint32" | "int32" | "float32" | "bool" | "string",
  value: string | number | boolean,
): Buffer {
  if (type === "bool") return Buffer.from([value === true ? 1 : 0]);
  if (type === "string") return string(String(value));
  if (type !== "float32") return uint32(Number(value));
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(Number(value));
  return buffer;
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function uint64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function padded(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}
