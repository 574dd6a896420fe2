import { Atoll } from "@atoll/client";
import { BASE_URL } from "./base.ts";
import { learnTime } from "./clock.ts";
import { connectionLost } from "./connection.ts";

let onUnauthenticated: () => void = () => undefined;

const client = new Atoll({
  baseUrl: BASE_URL.href,
  // In a cookie that no script can read.
  session: "cookie",
  // The page shows what failed and asks again itself.
  maxRetries: 0,
  fetch: watchedFetch,
});

/** The client of the signed-in account. */
export function api(): Atoll {
  return client;
}

/** `listener` hears of each request that was refused because no session holds any more. */
export function whenUnauthenticated(listener: () => void): void {
  onUnauthenticated = listener;
}

async function watchedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    learnTime(response.headers.get("date"));
    if (response.status === 502 || response.status === 504) connectionLost();
    if (response.status === 401 && !response.url.includes("/auth/")) onUnauthenticated();
    return response;
  } catch (error) {
    if (init?.signal?.aborted !== true) connectionLost();
    throw error;
  }
}
