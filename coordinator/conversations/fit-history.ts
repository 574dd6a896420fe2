import { MAX_INPUT_BYTES, type ChatMessage } from "../../shared/chat-input.ts";
import { ValidationError } from "../../shared/errors.ts";
import type { Message } from "../store/conversations.ts";

/** A question and its answer, kept or dropped together because chat templates require alternating roles. */
interface Turn {
  readonly question: string;
  readonly answer: string;
}

export const MAX_HISTORY_MESSAGES = 128;
/** Size of `{"messages":[],…}` around the messages and the other fields. */
const FRAME_BYTES = 16;
/** UTF-8 bytes per token, estimated low: English has 4 to 5, other scripts about 3, code sometimes less. */
const BYTES_PER_TOKEN = 3;
/** Tokens that a chat template adds to each message. */
const TOKENS_PER_MESSAGE = 8;

interface FitLimits {
  /** Context of the chat Cargo in tokens. If null, only the limits of a job's input apply. */
  readonly contextTokens: number | null;
  readonly maxTokens: number;
  /** Fields of the job's input other than `messages`: sampling, response format. */
  readonly otherFields?: Readonly<Record<string, unknown>>;
}

/** Estimates the tokens of a message, rather too high than too low, because the coordinator has no tokenizer. */
export function estimateTokens(content: string): number {
  return Math.ceil(Buffer.byteLength(content) / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE;
}

/**
 * Returns the messages of a chat job: the system prompt, as many of the newest turns as fit, and the question.
 * `maxTokens`, but at most half of the context, stay free for the answer.
 * @throws {ValidationError} if the system prompt, question and other fields exceed a job's input. The error names the
 *   largest.
 */
export function fitHistory(
  systemPrompt: string | null,
  history: readonly Message[],
  question: string,
  { contextTokens, maxTokens, otherFields = {} }: FitLimits,
): ChatMessage[] {
  const system: ChatMessage[] = systemPrompt === null ? [] : [{ role: "system", content: systemPrompt }];
  const last: ChatMessage = { role: "user", content: question };
  const fixed = [...system, last];
  const tokens = contextTokens === null ? Infinity : contextTokens - Math.min(maxTokens, Math.floor(contextTokens / 2));
  const bytes = MAX_INPUT_BYTES - FRAME_BYTES - jsonBytes(otherFields) - sum(fixed, inputBytes);
  if (bytes < 0) throw sizeErrorOf({ content: question, ...otherFields });
  const budget: Budget = {
    tokens: tokens - sum(fixed, ({ content }) => estimateTokens(content)),
    bytes,
    messages: MAX_HISTORY_MESSAGES - fixed.length,
  };
  return [...system, ...newestTurns(turnsOf(history), budget), last];
}

/**
 * Drops the older half of the history by estimated tokens, or all with `keepNone`. Undefined if there is no history.
 */
export function shortenHistory(messages: readonly ChatMessage[], keepNone: boolean): ChatMessage[] | undefined {
  const system = messages.filter(({ role }) => role === "system");
  const past = messages.slice(system.length, -1);
  if (past.length === 0) return undefined;
  const tokens = Math.floor(sum(past, ({ content }) => estimateTokens(content)) / 2);
  const budget: Budget = { tokens: keepNone ? 0 : tokens, bytes: Infinity, messages: Infinity };
  return [...system, ...newestTurns(turnsOf(past), budget), ...messages.slice(-1)];
}

interface Budget {
  readonly tokens: number;
  /** Maximum size as JSON. */
  readonly bytes: number;
  readonly messages: number;
}

/** Returns the newest turns that fit, oldest first, without gaps. */
function newestTurns(turns: readonly Turn[], budget: Budget): ChatMessage[] {
  let kept: ChatMessage[] = [];
  let [tokens, bytes] = [0, 0];
  for (const { question, answer } of turns.toReversed()) {
    const turn: ChatMessage[] = [
      { role: "user", content: question },
      { role: "assistant", content: answer },
    ];
    tokens += sum(turn, ({ content }) => estimateTokens(content));
    bytes += sum(turn, inputBytes);
    if (tokens > budget.tokens || bytes > budget.bytes || kept.length + turn.length > budget.messages) break;
    kept = [...turn, ...kept];
  }
  return kept;
}

/**
 * Pairs questions with their answers. Omits questions without an answer, because many templates reject adjacent
 * questions. The history may start with an answer whose question was not read.
 */
function turnsOf(messages: readonly Pick<ChatMessage, "role" | "content">[]): Turn[] {
  return messages.flatMap(({ role, content: question }, index) => {
    const next = messages[index + 1];
    const answer = next?.role === "assistant" ? next.content : "";
    return role === "user" && question !== "" && answer !== "" ? [{ question, answer }] : [];
  });
}

/** Returns the size of a message in the JSON of a job's input, with its comma. */
function inputBytes(message: ChatMessage): number {
  return jsonBytes(message) + 1;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Returns an error that names the largest field. @param fields fields that the client sent with the question. */
function sizeErrorOf(fields: Readonly<Record<string, unknown>>): ValidationError {
  const sizes = Object.entries(fields).map(([path, value]) => ({
    path,
    bytes: value === undefined ? 0 : jsonBytes(value),
  }));
  const { path, bytes } = sizes.reduce((largest, each) => (each.bytes > largest.bytes ? each : largest));
  const message = `is ${bytes} bytes as JSON, but with the other fields and the system prompt, at most ${MAX_INPUT_BYTES} are allowed`;
  return new ValidationError([{ path, message }]);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
