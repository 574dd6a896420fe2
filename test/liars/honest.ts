import type { Random } from "../support/random.ts";
import type { Attempt } from "./attempt.ts";

const LOAD_MS = 10;
const UTILITY_MS = 40;
const PROMPT_TOKENS = 8;

/** Runs a job like an honest Island, at the speed of a model. Stops when the job is cancelled. */
export async function runHonestly(attempt: Attempt, random: Random): Promise<void> {
  attempt.begin();
  await attempt.pause(LOAD_MS);
  if (attempt.result.kind === "value") {
    await attempt.pause(UTILITY_MS);
    if (attempt.isOver) return stopped(attempt);
    return attempt.finish({ output: attempt.result.value });
  }
  attempt.readPrompt(PROMPT_TOKENS, PROMPT_TOKENS);
  const { pieces } = attempt;
  for (const piece of pieces) {
    await attempt.pause(random.between(10, 40));
    if (attempt.isOver) return stopped(attempt);
    attempt.text(piece);
  }
  return attempt.finish({ promptTokens: PROMPT_TOKENS, completionTokens: pieces.length });
}

function stopped(attempt: Attempt): void {
  if (attempt.isCancelled) attempt.confirmCancel();
}
