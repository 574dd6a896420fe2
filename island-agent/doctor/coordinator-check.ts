import type { Clock } from "../../shared/clock.ts";
import type { AgentConfig } from "../config/resolve-agent-config.ts";
import { describeKeyChange } from "../session/cargo-trust.ts";
import { checkToken, readCoordinatorKey } from "../session/check-token.ts";
import type { CoordinatorState, Measured } from "./examination.ts";

const REQUESTS = 5;
const MAX_RESPONSE_WAIT_MS = 10_000;

/** Settings that `island join` stored. */
export type Joined = Pick<AgentConfig["coordinator"], "token" | "publicKey" | "accountId">;

/** Checks the coordinator's response time, its pinned key, and whether it accepts the token. Never throws. */
export async function checkCoordinator(url: string, joined: Joined, clock: Clock): Promise<Measured<CoordinatorState>> {
  const timesMs: number[] = [];
  for (let count = 0; count <= REQUESTS; count += 1) {
    const beganMs = clock.monotonicMs();
    try {
      const response = await fetch(`${url}/api/v1/health`, { signal: AbortSignal.timeout(MAX_RESPONSE_WAIT_MS) });
      await response.arrayBuffer();
      // An unhealthy coordinator responds with 503.
      if (!response.ok && response.status !== 503)
        return {
          problem: `${url} responded with status ${response.status}. Check that it is the URL of a coordinator`,
        };
    } catch (error) {
      return { problem: `Cannot reach ${url}: ${reasonOf(error)}` };
    }
    timesMs.push(clock.monotonicMs() - beganMs);
  }
  // The first request also opened the connection.
  const sorted = timesMs.slice(1).sort((a, b) => a - b);
  const latencyMs = Math.round((sorted[Math.floor(REQUESTS / 2)] ?? 0) * 10) / 10;
  const keyProblem = await findKeyProblem(url, joined.publicKey);
  const tokenProblem =
    keyProblem === null
      ? await findTokenProblem(url, joined)
      : "not checked: it is sent only to a coordinator with the pinned key";
  return { url, latencyMs, pinnedKey: joined.publicKey, keyProblem, tokenProblem };
}

async function findKeyProblem(url: string, pinned: string | null): Promise<string | null> {
  if (pinned === null) return "no key is pinned, so no Cargo can run here. Join again with: island join URL";
  const shown = await readCoordinatorKey(url);
  if (!shown.ok) return shown.reason;
  return shown.publicKey === pinned ? null : describeKeyChange(pinned, shown.publicKey);
}

async function findTokenProblem(url: string, { token, accountId }: Joined): Promise<string | null> {
  if (token === null) return "not set. Join with: island join URL";
  const checked = await checkToken(url, token);
  if (!checked.ok) return checked.reason;
  if (checked.accountId === null || checked.accountId === accountId) return null;
  const stored = accountId === null ? "no account" : accountId;
  return `belongs to ${checked.accountId}, but the settings contain ${stored}. Join again, otherwise unapproved Cargos of that account are rejected`;
}

/** Returns the reason of an error, which `fetch` stores in the error's cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
