import type { Clock } from "../../shared/clock.ts";
import { checkToken } from "../session/check-token.ts";
import type { CoordinatorState, Measured } from "./examination.ts";

const TRIES = 5;
const ANSWER_LIMIT_MS = 10_000;

/** How fast the coordinator answers, and whether it takes the token. Never throws. */
export async function checkCoordinator(
  url: string,
  token: string | null,
  clock: Clock,
): Promise<Measured<CoordinatorState>> {
  const timesMs: number[] = [];
  for (let count = 0; count <= TRIES; count += 1) {
    const beganMs = clock.monotonicMs();
    try {
      const answer = await fetch(`${url}/api/v1/health`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
      await answer.arrayBuffer();
      // 503 is an answer too: a coordinator that is not well.
      if (!answer.ok && answer.status !== 503)
        return { problem: `${url} answered ${answer.status}: is it a coordinator?` };
    } catch (error) {
      return { problem: `${url} cannot be reached: ${reasonOf(error)}` };
    }
    timesMs.push(clock.monotonicMs() - beganMs);
  }
  // The first one also opened the connection.
  const sorted = timesMs.slice(1).sort((a, b) => a - b);
  const latencyMs = Math.round((sorted[Math.floor(TRIES / 2)] ?? 0) * 10) / 10;
  return { url, latencyMs, tokenProblem: await tokenProblem(url, token) };
}

async function tokenProblem(url: string, token: string | null): Promise<string | null> {
  if (token === null) return "none is set: island join URL --token it_…";
  const checked = await checkToken(url, token);
  return checked.ok ? null : checked.reason;
}

/** `fetch` hides why in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
