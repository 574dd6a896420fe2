import { hash } from "node:crypto";
import { MAX_IMAGE_TOKENS } from "../../shared/chat-images.ts";
import type { ChatMessage, ChatRequest } from "../../shared/chat-input.ts";
import type { PromptPart } from "../scheduler/events.ts";

/** Usual number of bytes of a token in English text. */
const BYTES_PER_TOKEN = 4;
/** A shorter prompt is read so fast that no cache matters. */
const MIN_PROMPT_TOKENS = 64;
/** Maximum number of parts: the first, which prompts often share, and the last, where a conversation continues. */
const MAX_PARTS = 32;
/** Characters of a part of a prompt without messages. */
const RAW_PART_CHARS = 2_048;
/** Characters of a hash in base64. With 96 bits, two different prompts have the same hash practically never. */
const HASH_CHARS = 16;

const NO_PARTS: readonly never[] = [];

/** Returns the estimated number of tokens of a text. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/**
 * Returns the starts of a prompt that an Island may have in its cache: one for each message, as a chain of hashes.
 * @param seed Text for the first hash: caches of other accounts and Cargos are different ones.
 */
export function promptPartsOf({ messages, isRaw, toolUse }: ChatRequest, seed: string): readonly PromptPart[] {
  const texts = isRaw ? partsOfRaw(messages[0]?.content ?? "") : messages.map(textOf);
  const parts: PromptPart[] = [];
  // Tools are described before the first message.
  let previous = toolUse === null ? seed : `${seed} ${JSON.stringify(toolUse)}`;
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    previous = hash("sha1", `${previous}\n${text}`, "base64").slice(0, HASH_CHARS);
    tokens += tokensIn(Buffer.byteLength(text)) + imageTokensOf(messages[index]);
    parts.push({ hash: previous, tokens });
  }
  if (tokens < MIN_PROMPT_TOKENS) return NO_PARTS;
  return parts.length <= MAX_PARTS ? parts : [...parts.slice(0, 1), ...parts.slice(1 - MAX_PARTS)];
}

/** Returns a text that differs for different messages. */
function textOf({ role, content, parts, tool_calls: calls }: ChatMessage): string {
  const others = [...(parts ?? []), ...(calls ?? [])];
  return others.length === 0 ? `${role} ${content}` : `${role} ${content} ${JSON.stringify(others)}`;
}

function imageTokensOf(message: ChatMessage | undefined): number {
  return MAX_IMAGE_TOKENS * (message?.parts?.filter(({ type }) => type === "image_url").length ?? 0);
}

function partsOfRaw(text: string): string[] {
  const count = Math.ceil(text.length / RAW_PART_CHARS);
  return Array.from({ length: count }, (_, index) => text.slice(index * RAW_PART_CHARS, (index + 1) * RAW_PART_CHARS));
}
