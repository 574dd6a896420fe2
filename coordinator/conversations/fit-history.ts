import { MAX_INPUT_BYTES, type ChatMessage } from "../../shared/chat-input.ts";
import { ValidationError } from "../../shared/errors.ts";
import type { Message } from "../store/conversation-store.ts";

/** What an earlier question got. Turns are kept or left out whole: chat templates want user and assistant by turns. */
interface Turn {
  readonly question: string;
  readonly answer: string;
}

/** One more and a job's input would be refused. */
export const MAX_HISTORY_MESSAGES = 128;
/** Of `{"messages":[],…}` around the messages and the other fields. */
const FRAME_BYTES = 16;
/** UTF-8 bytes that make a token at the least, nearly always: English has 4 to 5, other scripts about 3, code less. */
const BYTES_PER_TOKEN = 3;
/** What a chat template puts around a message. */
const TOKENS_PER_MESSAGE = 8;

export interface FitLimits {
  /** Of the chat Cargo; null: only the limits of a job's input count. */
  readonly contextTokens: number | null;
  /** Asked for the answer. */
  readonly maxTokens: number;
  /** Of the job's input beside the messages: sampling fields, a response format. */
  readonly otherFields?: Readonly<Record<string, unknown>>;
}

/** Tokens of a message, guessed high: the coordinator has no model's vocabulary. */
export function estimateTokens(content: string): number {
  return Math.ceil(Buffer.byteLength(content) / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE;
}

/**
 * The messages of a chat job: the system prompt, as many of the newest turns as fit beside it, and the question. The answer's room
 * is what was asked for it, but at most half of the context. System prompt and question are never left out or cut.
 * @throws {ValidationError} when they and the other fields alone are more than a job's input may be, naming the largest of them.
 */
export function fitHistory(
  systemPrompt: string | null,
  history: readonly Message[],
  question: string,
  { contextTokens, maxTokens, otherFields = {} }: FitLimits,
): ChatMessage[] {
  const system: ChatMessage[] = systemPrompt === null ? [] : [{ role: "system", content: systemPrompt }];
  const asked: ChatMessage = { role: "user", content: question };
  const fixed = [...system, asked];
  const tokens = contextTokens === null ? Infinity : contextTokens - Math.min(maxTokens, Math.floor(contextTokens / 2));
  const bytes = MAX_INPUT_BYTES - FRAME_BYTES - jsonBytes(otherFields) - sum(fixed, inputBytes);
  if (bytes < 0) throw tooLarge({ content: question, ...otherFields });
  const room: Room = {
    tokens: tokens - sum(fixed, ({ content }) => estimateTokens(content)),
    bytes,
    messages: MAX_HISTORY_MESSAGES - fixed.length,
  };
  return [...system, ...newestTurns(turnsOf(history), room), asked];
}

/**
 * Half as much history (by estimate, the older half) for a model that found `messages` too long; none at all with `keepNone`.
 * Undefined when there is no history to leave out.
 */
export function shortenHistory(messages: readonly ChatMessage[], keepNone: boolean): ChatMessage[] | undefined {
  const system = messages.filter(({ role }) => role === "system");
  const past = messages.slice(system.length, -1);
  if (past.length === 0) return undefined;
  const tokens = Math.floor(sum(past, ({ content }) => estimateTokens(content)) / 2);
  const room: Room = { tokens: keepNone ? 0 : tokens, bytes: Infinity, messages: Infinity };
  return [...system, ...newestTurns(pairs(past), room), ...messages.slice(-1)];
}

interface Room {
  readonly tokens: number;
  /** Of JSON. */
  readonly bytes: number;
  readonly messages: number;
}

/** The newest turns that fit, oldest first; the first that does not fit ends it, so that nothing is missing in between. */
function newestTurns(turns: readonly Turn[], room: Room): ChatMessage[] {
  let kept: ChatMessage[] = [];
  let [tokens, bytes] = [0, 0];
  for (const { question, answer } of turns.toReversed()) {
    const turn: ChatMessage[] = [
      { role: "user", content: question },
      { role: "assistant", content: answer },
    ];
    tokens += sum(turn, ({ content }) => estimateTokens(content));
    bytes += sum(turn, inputBytes);
    if (tokens > room.tokens || bytes > room.bytes || kept.length + turn.length > room.messages) break;
    kept = [...turn, ...kept];
  }
  return kept;
}

/** Questions that got some text. One that got none would stand beside the next question, which many templates refuse. */
function turnsOf(history: readonly Message[]): Turn[] {
  return pairs(history.filter((message, index) => !isUnanswered(history, index) && message.content !== ""));
}

function isUnanswered(history: readonly Message[], index: number): boolean {
  return history[index]?.role === "user" && (history[index + 1]?.content ?? "") === "";
}

/** A history that was read from its end may begin with an answer, whose question is not there. */
function pairs(messages: readonly { readonly role: string; readonly content: string }[]): Turn[] {
  return messages.flatMap(({ role, content }, index) => {
    const next = messages[index + 1];
    return role === "user" && next?.role === "assistant" ? [{ question: content, answer: next.content }] : [];
  });
}

/** In the JSON of a job's input, with what stands around it. */
function inputBytes(message: ChatMessage): number {
  return jsonBytes(message) + 1;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** `fields`: those that the client sent with the question. */
function tooLarge(fields: Readonly<Record<string, unknown>>): ValidationError {
  const sizes = Object.entries(fields).map(([path, value]) => ({
    path,
    bytes: value === undefined ? 0 : jsonBytes(value),
  }));
  const { path, bytes } = sizes.reduce((largest, each) => (each.bytes > largest.bytes ? each : largest));
  const message = `is ${bytes} bytes as JSON; with the other fields and the system prompt at most ${MAX_INPUT_BYTES} are taken`;
  return new ValidationError([{ path, message }]);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
