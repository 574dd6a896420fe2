import type { IncomingMessage } from "node:http";
import type { z } from "@hono/zod-openapi";
import { KIB, MIB } from "../../../shared/format-bytes.ts";
import { RateLimitedError, ServiceError, ValidationError } from "../../../shared/errors.ts";
import { GatheredBytes } from "../../../shared/async/gathered-bytes.ts";
import { ownTurn } from "../../../shared/async/own-turn.ts";
import { fieldErrorsOf } from "../../../shared/zod-errors.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import { InputText } from "../../catalog/input-text.ts";
import { Pool } from "../../quotas/pool.ts";
import { parseLongJson } from "./parse-long-json.ts";

const MAX_BODY_BYTES = MIB;
/** Size from which parsing and handling a body are two turns of the event loop. Parsing 1 MB takes about 12 ms. */
const LONG_BODY_BYTES = 128 * KIB;
/** Maximum size of a body with images: 3 MiB in base64, and the text. */
const MAX_IMAGES_BODY_BYTES = 6 * MIB;
/** Bodies of more than {@link MAX_BODY_BYTES} that are read at the same time. */
const MAX_LARGE_BODIES = { account: 8, all: 64 };
/**
 * Maximum size of a refused body that is read and dropped, because a client that is still sending would often lose the
 * response.
 */
const MAX_DROPPED_BYTES = 8 * MIB;
/** Maximum nesting of a body. Deeper JSON could exhaust the stack of recursive code, here or in a library. */
const MAX_DEPTH = 100;

const largeBodies = new Pool(MAX_LARGE_BODIES);

/** Begins to read a body of more than {@link MAX_BODY_BYTES}; the returned function ends it. */
type LargeBody = () => (() => void) | "account" | "all";

/** Allows an account's body to have images. */
export function largeBodyOf(accountId: string): LargeBody {
  return () => largeBodies.take([["account", accountId], ["all"]]);
}

/**
 * Reads and parses a JSON body of any content type.
 * @param large allows a large body. Default: none.
 * @param texts member whose items become `InputText`, as far as they are objects. Default: none.
 * @throws {ServiceError} `payload_too_large`, with or without a Content-Length, without keeping the body;
 * `invalid_json`; `validation_failed` for a structure that no schema can check (too deep, or a member `__proto__`);
 * {@link RateLimitedError} while many large bodies are read.
 */
export async function readJson(incoming: IncomingMessage, large?: LargeBody, texts?: string): Promise<unknown> {
  const bytes = arrivedBody(incoming) ?? (await readBody(incoming, large));
  const isLong = bytes.length >= LONG_BODY_BYTES;
  const mapItem = (item: unknown, member: string, index: number): unknown => {
    if (member !== texts) return item;
    assertStructure(item, [member, String(index)]);
    return textOf(item, member, index);
  };
  let value: unknown;
  try {
    value = isLong && texts !== undefined ? await parseLongJson(bytes, mapItem) : JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ServiceError("invalid_json", `The body is not valid JSON: ${cause.message}`, { cause });
  }
  if (isLong) await ownTurn();
  assertStructure(value);
  if (texts !== undefined && isJsonObject(value) && Array.isArray(value[texts]))
    value = { ...value, [texts]: (value[texts] as unknown[]).map((item, index) => textOf(item, texts, index)) };
  if (isLong) await ownTurn();
  return value;
}

/** Returns an object as text, and other values as they are. */
function textOf(item: unknown, member: string, index: number): unknown {
  if (!isJsonObject(item) || item instanceof InputText) return item;
  return new InputText(`${member}.${index}`, JSON.stringify(item));
}

/**
 * Refuses a structure that no schema can check (too deep, or a member `__proto__`).
 * @param path of the value in the body. @throws {ValidationError}
 */
export function assertStructure(value: unknown, path: readonly string[] = []): void {
  if (typeof value !== "object" || value === null) return;
  const problem = structureProblem(value, path.length);
  if (problem === null) return;
  const { steps, message } = problem;
  throw new ValidationError([{ path: steps === null ? "" : [...path, ...steps.reverse()].join("."), message }]);
}

/** Returns the value as the schema parses it. @throws {ValidationError} naming every invalid field. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ValidationError(fieldErrorsOf(result.error, value));
}

/** Returns the body if all of it arrived with the headers; otherwise null. This saves listeners and two ticks. */
function arrivedBody(incoming: IncomingMessage): Buffer | null {
  if (!incoming.complete || incoming.destroyed || incoming.readableLength > MAX_BODY_BYTES) return null;
  return incoming.read() as Buffer | null;
}

function readBody(incoming: IncomingMessage, large: LargeBody | undefined): Promise<Buffer> {
  const maxBytes = large === undefined ? MAX_BODY_BYTES : MAX_IMAGES_BODY_BYTES;
  const announcedBytes = Number(incoming.headers["content-length"] ?? 0);
  if (announcedBytes > MAX_DROPPED_BYTES) return Promise.reject(tooLargeError(maxBytes));
  // The events were already emitted: the client disconnected while its key was looked up.
  if (incoming.destroyed) return Promise.reject(disconnectedError());
  return new Promise((resolve, reject) => {
    const body = new GatheredBytes();
    let release: (() => void) | null = null;
    const settle = (act: () => void): void => {
      release?.();
      incoming.off("data", onData).off("end", onEnd).off("error", onDisconnect).off("close", onDisconnect);
      act();
    };
    const isTooLarge = announcedBytes > maxBytes;
    const refuse = (error: Error): void =>
      settle(() => {
        incoming.pause();
        reject(error);
      });
    const onData = (chunk: Buffer): void => {
      if (isTooLarge) return;
      const bytes = body.length + chunk.length;
      if (bytes > maxBytes) return refuse(tooLargeError(maxBytes));
      if (bytes > MAX_BODY_BYTES && release === null) {
        const taken = large?.() ?? "all";
        if (typeof taken === "string") return refuse(tooManyError());
        release = taken;
      }
      body.add(chunk);
    };
    const onEnd = (): void => settle(() => (isTooLarge ? reject(tooLargeError(maxBytes)) : resolve(body.bytes)));
    const onDisconnect = (): void => settle(() => reject(disconnectedError()));
    incoming.on("data", onData).on("end", onEnd).on("error", onDisconnect).on("close", onDisconnect);
  });
}

function disconnectedError(): ServiceError {
  return new ServiceError("bad_request", "The connection closed before the whole body arrived. Send the request again");
}

function tooManyError(): RateLimitedError {
  const message = "Too many bodies with images are being received. Wait for the responses to other requests";
  return new RateLimitedError("concurrent_jobs", 1, message);
}

function tooLargeError(maxBytes: number): ServiceError {
  return new ServiceError("payload_too_large", `The body is larger than ${maxBytes} bytes. Send less in one request`);
}

/** Returns the first problem of the structure; null for a valid one. `depth`: number of names in the path of `value`. */
function structureProblem(value: object, depth: number): StructureProblem | null {
  if (depth === MAX_DEPTH) return { steps: null, message: `must not be nested deeper than ${MAX_DEPTH} levels` };
  if (Array.isArray(value)) {
    // A body may have 500,000 items, and an index is faster than names.
    for (let index = 0; index < value.length; index += 1) {
      const each: unknown = value[index];
      if (typeof each !== "object" || each === null) continue;
      const problem = structureProblem(each, depth + 1);
      if (problem !== null) return within(problem, String(index));
    }
    return null;
  }
  for (const key in value) {
    // The name is valid JSON, but code that copies members one by one would set the prototype and lose the member.
    if (key === "__proto__") return { steps: [key], message: "is not allowed as a field name" };
    const each = (value as Record<string, unknown>)[key];
    if (typeof each !== "object" || each === null) continue;
    const problem = structureProblem(each, depth + 1);
    if (problem !== null) return within(problem, key);
  }
  return null;
}

interface StructureProblem {
  /** Path in the body, last name first; null for the whole body. */
  readonly steps: string[] | null;
  readonly message: string;
}

function within(problem: StructureProblem, step: string): StructureProblem {
  problem.steps?.push(step);
  return problem;
}
