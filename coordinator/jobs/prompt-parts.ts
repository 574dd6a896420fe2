import { hash } from "node:crypto";
import type { ChatMessage, ChatRequest } from "../../shared/chat-input.ts";
import { KIB } from "../../shared/format-bytes.ts";
import type { PromptPart } from "../scheduler/events.ts";

/** Usual number of bytes of a token in English text. */
const BYTES_PER_TOKEN = 4;
/** A shorter prompt is read so fast that no cache matters. */
const MIN_PROMPT_TOKENS = 64;
/**
 * Maximum number of parts: the first, which prompts often share, and the last, where a conversation continues. Jobs that
 * wait keep them, so that each part costs memory.
 */
const MAX_PARTS = 8;
/** Characters of a part of a prompt without messages. */
const RAW_PART_CHARS = 2_048;
/** Last characters of an image that identify it, together with its length. Hashing megabytes would take too long. */
const IMAGE_CHARS = KIB;

/** The parts of a prompt for which no cache matters. */
export const NO_PARTS: readonly never[] = [];

/** Bytes of the parts of a prompt. */
interface PromptBytes {
  readonly tools: number;
  readonly messages: readonly number[];
}

/** Returns the estimated number of tokens of a text. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/**
 * Returns the starts of a prompt that an Island may have in its cache: one for each message, as a chain of hashes.
 * @param seed Text for the first hash: caches of other accounts and Cargos are different ones.
 */
export function promptPartsOf(
  { messages, isRaw, toolUse }: ChatRequest,
  bytesOf: PromptBytes,
  seed: string,
): readonly PromptPart[] {
  const total = bytesOf.messages.reduce((sum, each) => sum + each, bytesOf.tools);
  if (tokensIn(total) < MIN_PROMPT_TOKENS) return NO_PARTS;
  const texts = isRaw ? partsOfRaw(messages[0]?.content ?? "") : messages.map(textOf);
  const parts: PromptPart[] = [];
  // Tools are described before the first message.
  let previous: string | number = toolUse === null ? seed : `${seed} ${JSON.stringify(toolUse)}`;
  let bytes = bytesOf.tools;
  for (const [index, text] of texts.entries()) {
    previous = hash("sha1", `${previous}\n${text}`, "buffer").readInt32LE();
    bytes += isRaw ? Buffer.byteLength(text) : (bytesOf.messages[index] ?? 0);
    const tokens = tokensIn(bytes);
    const isAnswered = !isRaw && messages[index + 1]?.role === "assistant";
    const withAnswer = isAnswered ? { withAnswer: tokensIn(bytes + (bytesOf.messages[index + 1] ?? 0)) } : {};
    parts.push({ hash: previous, tokens, ...withAnswer });
  }
  return parts.length <= MAX_PARTS ? parts : [...parts.slice(0, 1), ...parts.slice(1 - MAX_PARTS)];
}

/** Returns a text that differs for different messages. */
function textOf({ role, content, parts = [], tool_calls: calls = [] }: ChatMessage): string {
  if (parts.length === 0 && calls.length === 0) return `${role} ${content}`;
  const order = parts.map((part) => {
    if (part.type !== "image_url") return part.text.length;
    const { url } = part.image_url;
    return `${url.length} ${url.slice(-IMAGE_CHARS)}`;
  });
  return `${role} ${content} ${JSON.stringify([order, calls])}`;
}

function partsOfRaw(text: string): string[] {
  const count = Math.ceil(text.length / RAW_PART_CHARS);
  return Array.from({ length: count }, (_, index) => text.slice(index * RAW_PART_CHARS, (index + 1) * RAW_PART_CHARS));
}
