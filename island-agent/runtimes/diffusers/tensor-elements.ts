import type { TensorType } from "../onnx/tensor-json.ts";

/** Input values of a network. */
export type Elements = Float32Array | readonly number[];
type RawElements = Float32Array | Float64Array | Uint16Array | Int32Array | BigInt64Array;

/**
 * Converts numbers to a graph's element type. float16 becomes its bit pattern, and integers are rounded. Returns null
 * for types that image networks do not use.
 */
export function writeElements(type: TensorType, numbers: Elements): RawElements | null {
  switch (type) {
    case "float32":
      return numbers instanceof Float32Array ? numbers : Float32Array.from(numbers);
    case "float16":
      return new Uint16Array(Float16Array.from(numbers).buffer);
    case "float64":
      return Float64Array.from(numbers);
    case "int32":
      return Int32Array.from(numbers, Math.round);
    case "int64":
      return BigInt64Array.from(numbers, (number) => BigInt(Math.round(number)));
    default:
      return null;
  }
}

/** Converts a graph's output to float32. float16 arrives as bit patterns or as a Float16Array. */
export function readElements(data: ArrayLike<unknown>): Float32Array {
  if (data instanceof Float32Array) return data;
  const halves = data instanceof Uint16Array ? new Float16Array(data.buffer, data.byteOffset, data.length) : data;
  return Float32Array.from(halves as ArrayLike<number | bigint>, Number);
}
