import { RequestWindow } from "../coordinator/quotas/request-window.ts";
import { systemClock } from "../shared/clock.ts";

/*
 * Measures the time that the request window adds to each request, compared with the minimal counter by caller: a number in a Map.
 * The two variants alternate, so that a noisy machine slows both. Each figure is the median of the rounds.
 */

const ROUNDS = 9;
const DECISIONS = 200_000;
const LIMIT = 100;
/** Longest acceptable time to count a request exactly. Source: decision 0035. */
const MAX_DECISION_NS = 20_000;

interface Figures {
  readonly callers: number;
  readonly windowNs: number;
  readonly baselineNs: number;
}

function measure(callers: number): Figures {
  const names = Array.from({ length: callers }, (_, index) => `key_${index}`);
  const window = new RequestWindow(systemClock);
  const counts = new Map<string, number>();
  const [windowNs, baselineNs]: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ofWindow = nsPerCall(names, (name) => window.count(name, LIMIT));
    const ofBaseline = nsPerCall(names, (name) => counts.set(name, (counts.get(name) ?? 0) + 1));
    // The first round warms up the compiler.
    if (round === 0) continue;
    windowNs.push(ofWindow);
    baselineNs.push(ofBaseline);
  }
  return { callers, windowNs: median(windowNs), baselineNs: median(baselineNs) };
}

function nsPerCall(names: readonly string[], call: (name: string) => unknown): number {
  const beganMs = systemClock.monotonicMs();
  for (let index = 0; index < DECISIONS; index += 1) call(names[index % names.length] ?? "");
  return ((systemClock.monotonicMs() - beganMs) * 1_000_000) / DECISIONS;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

const figures = [1, 1_000, 40_000].map(measure);
console.log("callers   window ns   Map ns   times");
for (const { callers, windowNs, baselineNs } of figures) {
  const columns = [
    String(callers).padStart(7),
    windowNs.toFixed(0).padStart(9),
    baselineNs.toFixed(0).padStart(6),
    (windowNs / baselineNs).toFixed(1).padStart(5),
  ];
  console.log(columns.join("   "));
}
const worstNs = Math.max(...figures.map(({ windowNs }) => windowNs));
console.log(`budget ${MAX_DECISION_NS} ns a decision: ${worstNs <= MAX_DECISION_NS ? "kept" : "exceeded"}`);
