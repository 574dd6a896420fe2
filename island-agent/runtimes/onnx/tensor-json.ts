import type { TensorJson, TENSOR_TYPES } from "../../../shared/onnx-task.ts";

export type TensorType = (typeof TENSOR_TYPES)[number];
/** Elements of a tensor in ONNX Runtime's types. */
export type TensorData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | string[];
type JsonElement = TensorJson["data"][number];

/** Thrown when an element does not fit the tensor's type. */
export class TensorError extends Error {
  override readonly name = "TensorError";
}

/** Minimum and maximum of the integer types of ONNX' TensorProto.DataType. */
const INTEGERS: Readonly<Partial<Record<TensorType, readonly [bigint, bigint]>>> = {
  int8: [-128n, 127n],
  int16: [-32_768n, 32_767n],
  int32: [-2_147_483_648n, 2_147_483_647n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 255n],
  uint16: [0n, 65_535n],
  uint32: [0n, 4_294_967_295n],
  uint64: [0n, 2n ** 64n - 1n],
};

/**
 * Converts JSON elements to a typed array. 64-bit integers may be decimal strings; null in a float tensor is NaN;
 * float16 becomes its bit pattern.
 * @throws {TensorError} naming the first element that does not fit.
 */
export function elementsOf(type: TensorType, data: readonly JsonElement[]): TensorData {
  switch (type) {
    case "float32":
      return Float32Array.from(data, readFloat);
    case "float64":
      return Float64Array.from(data, readFloat);
    case "float16":
      return Uint16Array.from(data, (element, i) => float16Bits(readFloat(element, i)));
    case "bool":
      return Uint8Array.from(data, readBool);
    case "string":
      return data.map(readString);
    case "int8":
      return Int8Array.from(data, readInteger(type));
    case "int16":
      return Int16Array.from(data, readInteger(type));
    case "int32":
      return Int32Array.from(data, readInteger(type));
    case "uint8":
      return Uint8Array.from(data, readInteger(type));
    case "uint16":
      return Uint16Array.from(data, readInteger(type));
    case "uint32":
      return Uint32Array.from(data, readInteger(type));
    case "int64":
      return BigInt64Array.from(data, readBigInteger(type));
    case "uint64":
      return BigUint64Array.from(data, readBigInteger(type));
    default:
      return type satisfies never;
  }
}

/** Converts the elements of a tensor to JSON, the inverse of `elementsOf`. */
export function elementsToJson(type: TensorType, data: ArrayLike<number | bigint | string>): JsonElement[] {
  return Array.from(data, (element) => {
    if (typeof element === "bigint") return Number.isSafeInteger(Number(element)) ? Number(element) : String(element);
    if (type === "bool") return element !== 0;
    if (typeof element === "number" && !Number.isFinite(element)) return null;
    return element;
  });
}

function readFloat(element: JsonElement, i: number): number {
  if (element === null) return NaN;
  if (typeof element === "number") return element;
  throw new TensorError(`data.${i}: must be a number or null`);
}

function readBool(element: JsonElement, i: number): number {
  if (element === true || element === 1) return 1;
  if (element === false || element === 0) return 0;
  throw new TensorError(`data.${i}: must be true or false`);
}

function readString(element: JsonElement, i: number): string {
  if (typeof element === "string") return element;
  throw new TensorError(`data.${i}: must be a string`);
}

function readInteger(type: TensorType): (element: JsonElement, i: number) => number {
  const read = readBigInteger(type);
  return (element, i) => Number(read(element, i));
}

function readBigInteger(type: TensorType): (element: JsonElement, i: number) => bigint {
  const [least, greatest] = INTEGERS[type] ?? [0n, 0n];
  return (element, i) => {
    const isInteger =
      typeof element === "number"
        ? Number.isSafeInteger(element)
        : typeof element === "string" && /^-?\d{1,20}$/.test(element);
    const value = isInteger ? BigInt(element as number | string) : null;
    if (value !== null && value >= least && value <= greatest) return value;
    throw new TensorError(`data.${i}: must be an integer of the type ${type}`);
  };
}

/** Returns the bits of an IEEE 754 binary16. */
function float16Bits(value: number): number {
  const view = new DataView(new ArrayBuffer(2));
  view.setFloat16(0, value);
  return view.getUint16(0);
}
