import type { IncomingMessage } from "node:http";
import type { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError, type FieldError } from "../../../shared/errors.ts";

export const MAX_BODY_BYTES = 1_048_576;
/** Deeper JSON would exhaust the stack of whatever walks it by recursion, ours or a library's. */
const MAX_DEPTH = 100;

/**
 * Reads and parses a JSON body, whatever its content type.
 * @throws {ServiceError} `payload_too_large`, after which no more is read, also when the length was not announced; `invalid_json`;
 * `validation_failed` for what no schema can be asked about.
 */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(incoming, MAX_BODY_BYTES);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new ServiceError("invalid_json", "The body is not valid JSON", { cause });
  }
  const problem = structureProblem(value, []);
  if (problem !== null) throw new ValidationError([problem]);
  return value;
}

/** @throws {ValidationError} naming every field that is wrong. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ValidationError(
    result.error.issues.map(({ path, message }) => ({ path: path.map(String).join("."), message })),
  );
}

function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void): void => {
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      act();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        settle(() => {
          incoming.pause();
          reject(tooLarge(maxBytes));
        });
      }
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, size)));
    const onGone = (): void =>
      settle(() => reject(new ServiceError("bad_request", "The body ended before it was complete")));
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError("payload_too_large", `The body is larger than ${maxBytes} bytes`);
}

/** `path`: names on the way to `value`; as it was on return, unless there is a problem. */
function structureProblem(value: unknown, path: string[]): FieldError | null {
  if (typeof value !== "object" || value === null) return null;
  if (path.length === MAX_DEPTH) return { path: "", message: `nested deeper than ${MAX_DEPTH} levels` };
  for (const key in value) {
    path.push(key);
    // JSON may have it, but whoever copies an object member by member sets its prototype instead, and loses it in silence.
    if (key === "__proto__") return { path: path.join("."), message: "is a name that no field may have" };
    const problem = structureProblem((value as Record<string, unknown>)[key], path);
    if (problem !== null) return problem;
    path.pop();
  }
  return null;
}
