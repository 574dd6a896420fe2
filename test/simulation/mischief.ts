import type { FromIsland } from "../../shared/protocol/from-island.ts";
import type { SimulatedIsland } from "./simulated-island.ts";

type AttemptName = Readonly<{ jobId: string; attempt: number }>;

/** Frames with false statements about an attempt. */
const LIES: readonly ((name: AttemptName, seq: number) => FromIsland)[] = [
  (name, seq) => ({ type: "output", ...name, seq, items: [{ type: "token", content: "lie", count: 1_000 }] }),
  (name, seq) => ({ type: "failed", ...name, seq, code: "internal", message: "lie", retryable: false }),
  (name, seq) => ({ type: "failed", ...name, seq, code: "invalid_input", message: "lie", retryable: true }),
  (name, seq) => ({ type: "cancelled", ...name, seq }),
  (name) => ({ type: "refused", ...name, code: "island_refused", message: "lie" }),
  (name) => ({ type: "accepted", ...name }),
  (name) => ({ type: "started", ...name, prompt: { total: 1_000_000, done: 1_000_000 } }),
  (name, seq) => ({
    type: "finished",
    ...name,
    seq,
    output: "lie",
    finishReason: "stop",
    usage: { promptTokens: 1_000_000, completionTokens: 1_000_000 },
    timings: { loadMs: 0, firstOutputMs: 0, runMs: 0 },
  }),
];
const SEQS = [1, 2, 3, 9];

/**
 * Sends a lie about an attempt of any Island. Returns false if there is no attempt or no connection. `pick` selects the
 * attempt, the lie and the number.
 */
export function makeMischief(island: SimulatedIsland, islands: readonly SimulatedIsland[], pick: number): boolean {
  const attempts = islands.flatMap(({ assigned }) => assigned);
  if (attempts.length === 0 || island.link === null) return false;
  const name = attempts[pick % attempts.length];
  const lie = LIES[Math.floor(pick / attempts.length) % LIES.length];
  const seq = SEQS[Math.floor(pick / attempts.length / LIES.length) % SEQS.length];
  if (name === undefined || lie === undefined || seq === undefined) return false;
  island.sendRaw(lie({ jobId: name.jobId, attempt: name.attempt }, seq));
  return true;
}
