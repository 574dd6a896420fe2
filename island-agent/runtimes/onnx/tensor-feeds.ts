import type { InferenceSession } from "onnxruntime-node";
import { JobFailure } from "../../../shared/errors.ts";
import { type TensorJson, TENSOR_TYPES } from "../../../shared/onnx-task.ts";
import type { TensorsInput } from "./onnx-input.ts";
import { elementsOf, type TensorData, TensorError, type TensorType } from "./tensor-json.ts";

type ValueMetadata = InferenceSession.ValueMetadata;

/** Limits of text in messages that comes from a job's tensor or from the model. */
const MAX_DIMS_SHOWN = 8;
const MAX_MESSAGE_CHARS = 1_000;

/** A tensor of a graph's input or output. */
export interface TensorSlot {
  readonly name: string;
  readonly type: TensorType;
  /** A dimension with a name instead of a number accepts any size. */
  readonly shape: readonly (number | string)[];
}

/** One validated input of a graph. */
export interface TensorFeed {
  readonly name: string;
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly data: TensorData;
}

/**
 * Returns the inputs or outputs of a graph.
 * @throws {JobFailure} `model_invalid` for sequences, maps and element types without a JSON form (4-bit integers).
 */
export function slotsOf(metadata: readonly ValueMetadata[]): TensorSlot[] {
  return metadata.map((value) => {
    const type = value.isTensor ? TENSOR_TYPES.find((each) => each === value.type) : undefined;
    if (value.isTensor && type !== undefined) return { name: value.name, type, shape: value.shape };
    const what = value.isTensor ? `a tensor of ${value.type}` : "not a tensor";
    throw new JobFailure("model_invalid", `${value.name} of the model is ${what}, which a job cannot carry`);
  });
}

/**
 * Validates a job's tensors against the inputs of the graph.
 * @throws {JobFailure} `invalid_input`, naming the tensor and its expected form.
 */
export function readFeeds(slots: readonly TensorSlot[], { inputs }: TensorsInput): TensorFeed[] {
  const unknown = Object.keys(inputs).filter((name) => !slots.some((slot) => slot.name === name));
  if (unknown.length > 0) {
    // Does not quote the names: the client chose them.
    const names = slots.map(({ name }) => name).join(", ");
    const text = `inputs: ${unknown.length} of the names are not inputs of the model. Its inputs are ${names}`;
    throw new JobFailure("invalid_input", text.slice(0, MAX_MESSAGE_CHARS));
  }
  return slots.map((slot) => {
    const tensor = Object.hasOwn(inputs, slot.name) ? inputs[slot.name] : undefined;
    const problem = tensor === undefined ? `is missing; expected ${describe(slot)}` : problemOf(slot, tensor);
    if (problem !== null || tensor === undefined)
      throw new JobFailure("invalid_input", `inputs.${slot.name}: ${problem}`);
    return readFeed(slot, tensor);
  });
}

function readFeed({ name, type }: TensorSlot, { dims, data }: TensorJson): TensorFeed {
  try {
    return { name, type, dims, data: elementsOf(type, data) };
  } catch (cause) {
    if (!(cause instanceof TensorError)) throw cause;
    throw new JobFailure("invalid_input", `inputs.${name}.${cause.message}`, { cause });
  }
}

function problemOf(slot: TensorSlot, { type, dims, data }: TensorJson): string | null {
  if (type !== slot.type) return `must be ${describe(slot)}, got the type ${type}`;
  const isSame =
    dims.length === slot.shape.length && slot.shape.every((size, i) => typeof size === "string" || size === dims[i]);
  if (!isSame) return `must be ${describe(slot)}, got the dimensions ${describeDims(dims)}`;
  const count = dims.reduce((product, size) => product * size, 1);
  return count === data.length ? null : `has ${data.length} elements, but its dimensions require ${count}`;
}

/** Formats dimensions, such as "[1, 4]". */
function describeDims(dims: readonly number[]): string {
  const more = dims.length > MAX_DIMS_SHOWN ? ", …" : "";
  return `[${dims.slice(0, MAX_DIMS_SHOWN).join(", ")}${more}]`;
}

/** Describes an input, such as "float32 [batch, 4]". */
function describe({ type, shape }: TensorSlot): string {
  return `${type} [${shape.map((size) => (size === "" ? "?" : size)).join(", ")}]`;
}
