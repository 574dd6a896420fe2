import { createHash } from "node:crypto";
import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { JsonValue } from "../../shared/json-value.ts";

/** Used Cargos, which are a chat and a utility whose result is a value. */
export const CHAT = "tiny-chat";
export const UTILITY = "base64";
export const MAX_TOKENS = 64;
const SYLLABLES = ["ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "we", "xa", "yo", "zi", "be", "du", "fe"];
const MIN_WORDS = 10;
const MORE_WORDS = 8;
const CHARS_PER_JSON_TOKEN = 4;

export const RESULT_SCHEMA = {
  type: "object",
  properties: { seal: { type: "string" }, sum: { type: "integer" } },
  required: ["seal", "sum"],
  additionalProperties: false,
} as const;

/** Correct result of a job, which is the pieces of a text or a value. */
export type Result =
  | { readonly kind: "text" | "json"; readonly pieces: readonly string[] }
  | { readonly kind: "value"; readonly value: JsonValue };

/** Returns the correct result of a prompt, which Islands compute and clients check. */
export function wordsFor(prompt: string): string {
  const bytes = createHash("sha256").update(prompt).digest();
  const count = MIN_WORDS + ((bytes[0] ?? 0) % MORE_WORDS);
  const syllable = (byte = 0): string => SYLLABLES[byte % SYLLABLES.length] ?? "";
  return Array.from({ length: count }, (_, at) => syllable(bytes[at + 1]) + syllable(bytes[at + 2])).join(" ");
}

/** Returns the correct result with {@link RESULT_SCHEMA}. */
export function jsonFor(prompt: string): string {
  const digest = createHash("sha256").update(prompt).digest("hex");
  return JSON.stringify({ seal: digest.slice(0, 24), sum: Number.parseInt(digest.slice(0, 6), 16) });
}

export function encoded(data: string): string {
  return Buffer.from(data).toString("base64");
}

/** @throws for an unknown input. */
export function resultFor(slug: string, input: Readonly<Record<string, unknown>>): Result {
  if (slug === UTILITY) return { kind: "value", value: { data: encoded(input["data"] as string) } };
  const request = chatRequestOf(chatInputSchema.parse(input));
  const prompt = request.messages.at(-1)?.content ?? "";
  if (request.responseFormat.type === "text") return { kind: "text", pieces: wordsFor(prompt).match(/\S+\s*/g) ?? [] };
  const pieces = jsonFor(prompt).match(new RegExp(`.{1,${CHARS_PER_JSON_TOKEN}}`, "g")) ?? [];
  return { kind: "json", pieces };
}
