import type { Cargo } from "../../shared/cargo.ts";
import { BASE_OUTPUT_TOKENS, chatInputSchema, MAX_INPUT_BYTES, type ChatInput } from "../../shared/chat-input.ts";
import { toolErrors } from "../../shared/chat-tools.ts";
import { ValidationError, type FieldError } from "../../shared/errors.ts";
import { grammarSchemaOf, UnsupportedSchema } from "../../shared/grammar-schema.ts";
import { fieldErrorsOf } from "../../shared/zod-errors.ts";
import { schemaFault } from "./answer-schema.ts";
import { filePlacesOf, withStandIns } from "./file-places.ts";
import { inputSchemas } from "./input-schema.ts";

type CheckedCargo = Pick<Cargo, "isChat" | "inputSchema"> & Partial<Pick<Cargo, "contextTokens" | "reasoning">>;

/**
 * Checks an input before its job is stored: its size, the rules of chat, and the Cargo's JSON Schema. `input` comes from a JSON
 * parser. Paths in errors begin with `root`, the field of the request that has the input. Files that it names are not looked up.
 * @returns the input as JSON.
 * @throws {ValidationError} naming every wrong field (for a large input that is not chat, only the first).
 */
export function checkInput(cargo: CheckedCargo, input: Readonly<Record<string, unknown>>, root = "input"): string {
  const json = JSON.stringify(input);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_INPUT_BYTES) {
    throw new ValidationError([
      { path: root, message: `is ${bytes} bytes as JSON; at most ${MAX_INPUT_BYTES} are taken` },
    ]);
  }
  // Chat first: it has rules that a schema cannot express, and clearer messages.
  const errors = cargo.isChat ? chatErrors(input, cargo) : [];
  if (errors.length === 0) {
    const places = cargo.isChat ? [] : filePlacesOf(cargo.inputSchema, input, json);
    errors.push(...inputSchemas.errorsOf(cargo.inputSchema, withStandIns(input, places), bytes));
  }
  if (errors.length === 0) return json;
  throw new ValidationError(
    errors.map(({ path, message }) => ({ path: path === "" ? root : `${root}.${path}`, message })),
  );
}

function chatErrors(input: Readonly<Record<string, unknown>>, cargo: CheckedCargo): FieldError[] {
  const parsed = chatInputSchema.safeParse(input);
  if (parsed.success) {
    const chat = parsed.data;
    return [
      ...lengthErrors(chat, cargo.contextTokens ?? null),
      ...formatErrors(chat),
      ...toolErrors(chat),
      ...effortErrors(chat, cargo),
    ];
  }
  return fieldErrorsOf(parsed.error, input);
}

/** An answer longer than the context cannot be. */
function lengthErrors({ max_tokens: tokens }: ChatInput, contextTokens: number | null): FieldError[] {
  if ((tokens ?? 0) <= Math.max(BASE_OUTPUT_TOKENS, contextTokens ?? 0)) return [];
  const most =
    contextTokens === null ? `${BASE_OUTPUT_TOKENS}` : `${contextTokens}, the context of this Cargo in tokens`;
  return [{ path: "max_tokens", message: `must be at most ${most}` }];
}

function effortErrors({ reasoning_effort: effort }: ChatInput, { reasoning }: CheckedCargo): FieldError[] {
  if (effort == null || effort === "none" || reasoning === true) return [];
  return [{ path: "reasoning_effort", message: "asks for thoughts, but this Cargo does not think before it answers" }];
}

const SCHEMA_PATH = "response_format.json_schema.schema";

/** Whether a grammar can keep the answer's schema at a bearable cost. Said here, before the job waits and costs. */
function formatErrors({ response_format: format }: ChatInput): FieldError[] {
  if (format?.type !== "json_schema") return [];
  try {
    const fault = schemaFault(format.json_schema.schema);
    if (fault !== null) return [{ path: SCHEMA_PATH, message: `is no JSON Schema: ${fault}` }];
    grammarSchemaOf(format.json_schema.schema);
    return [];
  } catch (error) {
    if (!(error instanceof UnsupportedSchema)) throw error;
    return [{ path: error.path, message: error.why }];
  }
}
