import { canReadImages, type Cargo } from "../../shared/cargo.ts";
import { imageBytesOf, imageProblem, MAX_IMAGES, MAX_IMAGES_BYTES } from "../../shared/chat-images.ts";
import {
  BASE_OUTPUT_TOKENS,
  imagesOf,
  parseChat,
  MAX_REQUESTED_TOKENS,
  MAX_CHAT_BYTES,
  MAX_INPUT_BYTES,
  MAX_OUTPUT_TOKENS,
  type ChatInput,
} from "../../shared/chat-input.ts";
import { type ChatTool, toolUseOf } from "../../shared/chat-tools.ts";
import { knowsCheckOf, toolErrors } from "../../shared/grammar/call-schema.ts";
import { ValidationError, type FieldError } from "../../shared/errors.ts";
import { grammarSchemaOf, UnsupportedSchema } from "../../shared/grammar/grammar-schema.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { isJsonObject } from "../../shared/json-value.ts";
import { fieldErrorsOf } from "../../shared/zod-errors.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import { schemaFault } from "./completion-schema.ts";
import { fileReferencesOf, withPlaceholders } from "./file-references.ts";
import type { CheckedInput } from "./input-text.ts";
import { inputSchemas } from "./input-schema.ts";
import { MAX_LOOP_STEPS } from "./schema-rules.ts";

/** The fields of a Cargo that the check of an input reads. */
export type CheckedCargo = Pick<Cargo, "isChat" | "inputSchema"> &
  Partial<Pick<Cargo, "slug" | "contextTokens" | "reasoning" | "projector" | "readsImages">>;

/** Maximum number of different member names. Agents reject a frame with more than 20,000 (`frame-values.ts`). */
const MAX_NAMES = 15_000;
/** Minimum size of a member name in JSON. */
const BYTES_PER_NAME = 4;

/**
 * Steps of checking a byte of a schema in `response_format`, and of the schemas of tools that were not checked before
 * (2 cores, 2026-11).
 */
const STEPS_PER_FORMAT_BYTE = 200;
const STEPS_PER_TOOL_BYTE = 100;

/**
 * Checks an input before its job is stored: its size, the rules of chat, and the Cargo's JSON Schema. Does not look up
 * referenced files.
 * @param value from a JSON parser
 * @param root request field of the input, with which paths in errors start
 * @returns the input, with `max_tokens` lowered to what the Cargo can generate
 * @throws {ValidationError} with each invalid field (only the first for a large input that is not chat)
 */
export function checkInput(cargo: CheckedCargo, value: JobInput, root = "input"): CheckedInput {
  const input = prepareInput(cargo, value);
  const errors = inputErrors(cargo, input);
  if (errors.length === 0) return input;
  throw new ValidationError(withRoot(errors, root));
}

/** Returns an input in the form in which it is stored, before its check. `json`: the JSON of `value`, if known. */
export function prepareInput(cargo: CheckedCargo, value: JobInput, json?: string): CheckedInput {
  const input = cargo.isChat ? withLoweredTokens(value, cargo.contextTokens ?? null) : value;
  return { input, inputJson: (input === value ? json : undefined) ?? JSON.stringify(input) };
}

/** Returns the invalid fields of a prepared input. Paths are relative to the input. */
export function inputErrors(cargo: CheckedCargo, { input, inputJson: json }: CheckedInput): FieldError[] {
  const bytes = Buffer.byteLength(json);
  const sizeError = cargo.isChat
    ? sizeErrorOf(input, bytes - imageCharsOf(input), MAX_CHAT_BYTES)
    : sizeErrorOf(input, bytes, MAX_INPUT_BYTES);
  if (sizeError !== null) return [{ path: "", message: sizeError }];
  // The rules of chat come first: a schema cannot express all of them, and their messages are clearer.
  const errors = cargo.isChat ? chatErrors(input, cargo) : [];
  if (errors.length > 0) return errors;
  const files = cargo.isChat ? [] : fileReferencesOf(cargo.inputSchema, { input, inputJson: json });
  return inputSchemas.errorsOf(cargo.inputSchema, withPlaceholders(input, files), bytes);
}

/** Returns the number of steps of {@link inputErrors}, without those that grow only with the size of the input. */
export function inputSteps(cargo: CheckedCargo, { input, inputJson: json }: CheckedInput): number {
  return inputSchemas.stepsOf(cargo.inputSchema, input, json.length) + (cargo.isChat ? grammarSteps(input) : 0);
}

/** Returns the number of steps of reading the schemas of a chat, which may be invalid. */
function grammarSteps(input: JobInput): number {
  const { response_format: format, tools } = input;
  const schema = isJsonObject(format) && isJsonObject(format["json_schema"]) ? format["json_schema"]["schema"] : null;
  const formatSteps = isJsonObject(schema) ? JSON.stringify(schema).length * STEPS_PER_FORMAT_BYTE : 0;
  if (!Array.isArray(tools)) return formatSteps;
  const steps = JSON.stringify(tools).length * STEPS_PER_TOOL_BYTE;
  // Agents send the same tools with every request, so that their check is often known.
  const isKnown = steps > MAX_LOOP_STEPS && knowsCheckOf(toolsOf(input));
  return formatSteps + (isKnown ? 0 : steps);
}

/** Returns the tools that a chat offers; empty if the chat is invalid. */
export function toolsOf(input: JobInput): readonly ChatTool[] {
  const { data } = parseChat(input);
  return data === undefined ? [] : (toolUseOf(data)?.tools ?? []);
}

export function withRoot(errors: readonly FieldError[], root: string): FieldError[] {
  return errors.map(({ path, message }) => ({ path: path === "" ? root : `${root}.${path}`, message }));
}

/** Lowers `max_tokens` to what the Cargo can generate: clients send the same limit for all models. */
function withLoweredTokens(input: JobInput, contextTokens: number | null): JobInput {
  const { max_tokens: requested } = input;
  const maximum = Math.min(MAX_OUTPUT_TOKENS, Math.max(BASE_OUTPUT_TOKENS, contextTokens ?? 0));
  if (
    typeof requested !== "number" ||
    !Number.isInteger(requested) ||
    requested <= maximum ||
    requested > MAX_REQUESTED_TOKENS
  )
    return input;
  return { ...input, max_tokens: maximum };
}

function sizeErrorOf(input: JobInput, bytes: number, maxBytes: number): string | null {
  if (bytes > maxBytes) return `is ${bytes} bytes as JSON, but at most ${maxBytes} are allowed`;
  if (bytes < MAX_NAMES * BYTES_PER_NAME) return null;
  const names = new Set<string>();
  addNames(input, names);
  return names.size > MAX_NAMES ? `has more than ${MAX_NAMES} different member names` : null;
}

function imageCharsOf(input: JobInput): number {
  return imagesOf(input).reduce((sum, { url }) => sum + url.length, 0);
}

function addNames(value: unknown, names: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (names.size > MAX_NAMES) return;
    if (!Array.isArray(value)) names.add(name);
    addNames(member, names);
  }
}

function chatErrors(input: Readonly<Record<string, unknown>>, cargo: CheckedCargo): FieldError[] {
  // Agents would read the answer instead of generating one.
  if ("read" in input) return [{ path: "read", message: "is not a field of chats" }];
  const { success, data: chat, error } = parseChat(input);
  if (!success) return fieldErrorsOf(error, input);
  return [...formatErrors(chat), ...toolErrors(chat), ...effortErrors(chat, cargo), ...imageErrors(input, cargo)];
}

/** Checks the images of a chat, except those that are downloaded later. */
function imageErrors(input: JobInput, cargo: CheckedCargo): FieldError[] {
  const images = imagesOf(input).map(({ path, url }) => ({ path: path.join("."), url }));
  const [first] = images;
  if (first === undefined) return [];
  const { path } = first;
  if (!canReadImages(cargo)) {
    const message = `is an image, and the Cargo "${cargo.slug ?? ""}" reads only text. Remove the image, or choose a Cargo whose \`input_modalities\` in GET /models include images`;
    return [{ path, message }];
  }
  if (images.length > MAX_IMAGES) {
    return [{ path, message: `is one of ${images.length} images; at most ${MAX_IMAGES} are allowed in a request` }];
  }
  const errors: FieldError[] = [];
  let sum = 0;
  for (const image of images) {
    if (isAddress(image.url)) continue;
    const bytes = imageBytesOf(image.url);
    const problem = bytes === null ? "must be data:image/…;base64, and then base64" : imageProblem(bytes);
    sum += bytes?.length ?? 0;
    if (problem !== null) errors.push({ path: image.path, message: problem });
  }
  if (sum > MAX_IMAGES_BYTES) {
    const [size, max] = [formatBytes(sum), formatBytes(MAX_IMAGES_BYTES)];
    errors.push({ path, message: `is one of several images of together ${size}; at most ${max} are allowed` });
  }
  return errors;
}

/** Returns whether the image is at an address, as opposed to a data URL. */
export function isAddress(url: string): boolean {
  return /^https?:/i.test(url);
}

function effortErrors({ reasoning_effort: effort }: ChatInput, { reasoning }: CheckedCargo): FieldError[] {
  if (effort == null || effort === "none" || reasoning === true) return [];
  return [{ path: "reasoning_effort", message: "requests reasoning, which this Cargo does not support" }];
}

const SCHEMA_PATH = "response_format.json_schema.schema";

/** Checks that a grammar can enforce the schema of `response_format`, before the job costs credits. */
function formatErrors({ response_format: format }: ChatInput): FieldError[] {
  if (format?.type !== "json_schema") return [];
  const bytes = Buffer.byteLength(JSON.stringify(format.json_schema.schema));
  if (bytes > MAX_INPUT_BYTES) {
    return [{ path: SCHEMA_PATH, message: `is ${bytes} bytes as JSON, but at most ${MAX_INPUT_BYTES} are allowed` }];
  }
  try {
    const fault = schemaFault(format.json_schema.schema);
    if (fault !== null) return [{ path: SCHEMA_PATH, message: `is not a valid JSON Schema: ${fault}` }];
    grammarSchemaOf(format.json_schema.schema);
    return [];
  } catch (error) {
    if (!(error instanceof UnsupportedSchema)) throw error;
    return [{ path: error.path, message: error.why }];
  }
}
