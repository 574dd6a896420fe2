import type { Cargo } from "../../shared/cargo.ts";
import { chatInputSchema, MAX_INPUT_BYTES } from "../../shared/chat-input.ts";
import { ValidationError, type FieldError } from "../../shared/errors.ts";
import { inputSchemas } from "./input-schema.ts";

/**
 * Refuses what the Cargo cannot take, before a job is stored: by size, by the meaning of chat, and by the Cargo's JSON Schema.
 * `input` has come through a JSON parser. Paths begin with `root`, the field of the request that held the input.
 * @throws {ValidationError} naming every wrong field (of a large input that is not chat, the first).
 */
export function checkInput(
  cargo: Pick<Cargo, "isChat" | "inputSchema">,
  input: Readonly<Record<string, unknown>>,
  root = "input",
): void {
  const bytes = Buffer.byteLength(JSON.stringify(input));
  if (bytes > MAX_INPUT_BYTES) {
    throw new ValidationError([
      { path: root, message: `is ${bytes} bytes as JSON; at most ${MAX_INPUT_BYTES} are taken` },
    ]);
  }
  // Chat first: it knows rules that a schema cannot say, and says more plainly what is wrong.
  const errors = cargo.isChat ? chatErrors(input) : [];
  if (errors.length === 0) errors.push(...inputSchemas.errorsOf(cargo.inputSchema, input, bytes));
  if (errors.length === 0) return;
  throw new ValidationError(
    errors.map(({ path, message }) => ({ path: path === "" ? root : `${root}.${path}`, message })),
  );
}

function chatErrors(input: Readonly<Record<string, unknown>>): FieldError[] {
  const parsed = chatInputSchema.safeParse(input);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
}
