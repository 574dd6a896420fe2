import type { ChatRequest } from "../../shared/chat-input.ts";
import { type Evidence, NO_EVIDENCE, type Verdict } from "../credits/standing.ts";
import type { Score } from "./reading.ts";

/**
 * Evidence in nats at which an Island is inconsistent. If an honest Island's answers are independent, 100,000 of its
 * readings pass on average before this happens once, and one reading exceeds it with a probability of at most 0.00001.
 */
const ALARM = Math.log(100_000);
/** The same for one answer to a chat with a seed. Its client may have searched for a seed with an improbable answer. */
const SEEDED_ALARM = Math.log(1e12);
/** Evidence in nats against false texts at which an Island is consistent. One false text in 100 may exceed it. */
const SUPPORT = Math.log(100);
/** Evidence in nats above which no Island is consistent. */
const DOUBT = Math.log(20);

/**
 * Adds a reading. The suspicion is Page's CUSUM, so an Island cannot save up for lies. Each ratio has an expectation of
 * at most 1 for honest answers, so exp(ALARM) readings pass on average before a false alarm (Lorden, "Procedures for
 * reacting to a change in distribution", 1971). Both sums are limited, so that later readings count.
 */
export function addReading({ suspicion, support }: Evidence, score: Score): Evidence {
  return {
    suspicion: Math.min(2 * ALARM, Math.max(0, suspicion + lieRatioOf(score))),
    support: Math.min(2 * SUPPORT, Math.max(0, support - score.falseText)),
  };
}

export function verdictOf(evidence: Evidence): Verdict {
  if (evidence.suspicion >= ALARM) return "inconsistent";
  return !isDoubtful(evidence) && evidence.support >= SUPPORT ? "consistent" : "unclear";
}

export function isDoubtful({ suspicion }: Evidence): boolean {
  return suspicion >= DOUBT;
}

/**
 * Returns what one reading shows. A chat whose tokens are not decided only by the model can only be consistent: a grammar,
 * a penalty or a bias explains every improbable token.
 */
export function judgeReading(score: Score, chat: ChatRequest): Verdict {
  const verdict = verdictOf(addReading(NO_EVIDENCE, score));
  if (verdict !== "inconsistent") return verdict;
  if (isConstrained(chat)) return "unclear";
  return isSeeded(chat) && lieRatioOf(score) < SEEDED_ALARM ? "unclear" : verdict;
}

/** Returns whether readings of the chat's answers may be added to an Island's evidence. */
export function isEvidence(chat: ChatRequest): boolean {
  return !isConstrained(chat) && !isSeeded(chat);
}

function isSeeded({ seed, temperature }: ChatRequest): boolean {
  return seed !== null && temperature > 0;
}

function isConstrained(chat: ChatRequest): boolean {
  const { frequencyPenalty, presencePenalty, repeatPenalty, logitBias, responseFormat, toolUse } = chat;
  const hasPenalty = frequencyPenalty !== 0 || presencePenalty !== 0 || repeatPenalty !== 1;
  return hasPenalty || logitBias.length > 0 || responseFormat.type !== "text" || toolUse !== null;
}

/** Returns the log likelihood ratio of both kinds of lies, which are assumed to be equally frequent. */
function lieRatioOf({ falseText, changedText }: Score): number {
  const max = Math.max(falseText, changedText);
  return max + Math.log((Math.exp(falseText - max) + Math.exp(changedText - max)) / 2);
}
