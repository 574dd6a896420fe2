import { type ChatRequest, chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { ChatReading } from "../../shared/chat-reading.ts";
import { tokensIn } from "../jobs/prompt-parts.ts";
import type { Likeness } from "../checks/likeness.ts";
import type { Evidence } from "../credits/standing.ts";
import type { Audit } from "../store/audits.ts";
import type { JobInput, JobRecord } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { addReading, isEvidence, judgeReading, verdictOf } from "./evidence.ts";
import { FAILED_BY_INPUT, type Question } from "./question.ts";
import { chargesTooMuch, checkReading, drawPositions, scoreReading } from "./reading.ts";

type Positions = ChatReading["positions"];

/** Fields of a chat that determine its prompt. A reader needs no ability that only the others require. */
const PROMPT_FIELDS = ["prompt", "messages", "system_prompt", "raw"] as const;
/** Positions at which a reader returns the distribution. */
const POSITIONS = 24;
/**
 * Log probabilities with a mean difference above the second number of nats are different ones. Other machines round by
 * about 0.05. Another token counts as 5.
 */
const SAME_NATS = 0.25;
const DIFFERENT_NATS = 0.5;
const OTHER_TOKEN_NATS = 5;
/** Bytes of an answer that are read at most, and at least where the context is short. A token may be one byte. */
const MAX_BYTES = 8_000;
const MIN_BYTES = 200;
/** Share of `max_tokens` and of the context that an answer at this limit has at least, without the first tokens. */
const MIN_LIMIT_SHARE = 0.8;
const FIRST_TOKENS = 8;
/** Last tokens that are not judged if the text was cut within a word: the model wrote other ones there. */
const CUT_TOKENS = 8;
/** Time limit of a reading, waiting included. */
export const READ_LIMIT_MS = 120_000;

/** Returns the text of a job and its record; null for a removed text, and for one of several Islands. */
export async function textOf(
  jobs: Pick<Store["jobs"], "get" | "feed">,
  jobId: string,
): Promise<{ readonly record: JobRecord; readonly text: string } | null> {
  const record = await jobs.get(jobId);
  if (record === undefined || record.inputRemovedAtMs !== null || record.outputRemovedAtMs !== null) return null;
  const parts = await jobs.feed(jobId);
  const texts = parts.map(({ attempt, items }) => {
    return { attempt, text: items.map((item) => (item.type === "token" ? item.content : "")).join("") };
  });
  const written = texts.filter(({ text }) => text !== "");
  if (new Set(written.map(({ attempt }) => attempt)).size !== 1) return null;
  return { record, text: written.map(({ text }) => text).join("") };
}

/**
 * Returns the question whether the model could have written an answer, or a beginning of it that fits into the context.
 * Null if there is no text to read.
 * @param evidenceOf Returns the evidence about the owner of the answer.
 */
export async function readingQuestion(
  jobs: Pick<Store["jobs"], "get" | "feed" | "input">,
  { jobId, chargedMicro }: Audit,
  contextTokens: number | null,
  evidenceOf: () => Evidence,
  random: () => number,
): Promise<Question | null> {
  const answer = await textOf(jobs, jobId);
  if (answer === null) return null;
  const { record, text } = answer;
  const input = await jobs.input(jobId);
  const chat = chatRequestOf(chatInputSchema.parse(input));
  // The Island's own count could shorten the text that is read.
  const left = (contextTokens ?? MAX_BYTES) - tokensIn(Buffer.byteLength(JSON.stringify(input)));
  const { part, isCutInWord } = beginningOf(text, Math.max(MIN_BYTES, Math.min(MAX_BYTES, left)));
  const unreadBytes = Buffer.byteLength(text) - Buffer.byteLength(part);
  const isWhole = part === text;
  // A stop sequence is not part of the text, so the model's own end is unknown then.
  const hasEnd = record.finishReason === "stop" && chat.stop.length === 0 && isWhole;
  // All readers read the same positions, so that their readings can be compared.
  const read = { text: part, has_end: hasEnd, at: drawPositions(POSITIONS, random) };
  const before: (Positions | null)[] = [];
  return {
    input: { ...promptOf(input), read },
    limitMs: READ_LIMIT_MS,
    lie: "found an answer that the model does not give",
    async judge(done, reader) {
      if (done.error !== null && FAILED_BY_INPUT.has(done.error.code)) {
        const failed = { jobId: done.id, ownerAccountId: reader, verdict: "unclear", surprise: null } as const;
        before.push(null);
        return { reading: failed, evidence: evidenceOf(), likeness: before.slice(1).map(() => "unsure") };
      }
      if (done.state !== "completed") return { problem: `the reading is ${done.state}` };
      const reading = checkReading(done.output, read);
      if ("problem" in reading) return reading;
      const judgeable = reading.positions.filter(({ index }) => !isCutInWord || index < reading.tokens - CUT_TOKENS);
      const scored = scoreReading({ ...reading, positions: judgeable }, chat, hasEnd);
      // A beginning that the Island calls an answer at the limit must not count for it.
      const isCutEarly = isWhole && record.finishReason === "length" && isBelowLimits(reading, chat, contextTokens);
      const score = isCutEarly ? { ...scored, falseText: Math.max(0, scored.falseText) } : scored;
      const known = evidenceOf();
      const evidence = isEvidence(chat) ? addReading(known, score) : known;
      const judged = isEvidence(chat) ? verdictOf(evidence) : judgeReading(score, chat);
      // The rest has at most one token for each byte.
      const counts = { ...reading, tokens: reading.tokens + unreadBytes };
      const verdict = chargesTooMuch(chargedMicro, record, counts) ? "inconsistent" : judged;
      const likeness = before.map((positions) =>
        positions === null ? "unsure" : comparePositions(positions, reading.positions),
      );
      before.push(reading.positions);
      return { reading: { jobId: done.id, ownerAccountId: reader, verdict, surprise: score.z }, evidence, likeness };
    },
  };
}

function promptOf(input: JobInput): JobInput {
  return Object.fromEntries(PROMPT_FIELDS.filter((name) => name in input).map((name) => [name, input[name]]));
}

/** Returns whether an answer is far shorter than one that `max_tokens` or the context ends. */
function isBelowLimits(
  { prompt_tokens: prompt, tokens }: ChatReading,
  { maxTokens }: Pick<ChatRequest, "maxTokens">,
  contextTokens: number | null,
): boolean {
  const isBelow = (count: number, limit: number): boolean => count < MIN_LIMIT_SHARE * (limit - FIRST_TOKENS);
  return isBelow(tokens, maxTokens) && (contextTokens === null || isBelow(prompt + tokens, contextTokens));
}

/** Returns the text, or its beginning up to white space. A long text without white space is cut at any character. */
function beginningOf(text: string, maxBytes: number): { readonly part: string; readonly isCutInWord: boolean } {
  if (Buffer.byteLength(text) <= maxBytes) return { part: text, isCutInWord: false };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  const cut = text.slice(0, read);
  const part = /^.*\S(?=\s)/s.exec(cut)?.[0];
  return { part: part ?? cut, isCutInWord: part === undefined };
}

function comparePositions(a: Positions, b: Positions): Likeness {
  if (a.length !== b.length) return "different";
  const differences = a.map(({ token, logprob }, at) => {
    const other = b[at];
    return other?.token === token ? Math.abs(logprob - other.logprob) : OTHER_TOKEN_NATS;
  });
  const sum = differences.reduce((total, each) => total + each, 0);
  const distance = sum / a.length;
  if (distance < SAME_NATS) return "same";
  return distance > DIFFERENT_NATS ? "different" : "unsure";
}
