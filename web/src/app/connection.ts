import { signal } from "@preact/signals";
import { BASE_URL } from "./base.ts";

/** Whether the coordinator is unreachable. */
export const isDown = signal(false);
/** Counts reconnects. Pages read their data again after each reconnect. */
export const reconnects = signal(0);

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
let isWaiting = false;

/** Handles a request that got no response, or a 502 or 504. Polls the health endpoint until a coordinator responds. */
export function connectionLost(): void {
  isDown.value = true;
  if (!isWaiting) void waitUntilUp();
}

async function waitUntilUp(): Promise<void> {
  isWaiting = true;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (await isReachable()) break;
  }
  isWaiting = false;
  isDown.value = false;
  reconnects.value += 1;
}

/** Requests the health endpoint without `@atoll/client`, whose retries would hide how long an outage lasts. */
async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(new URL("api/v1/health", BASE_URL), { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
