import { Atoll } from "@atoll/client";
import { BASE_URL } from "./base.ts";
import { learnTime } from "./clock.ts";
import { connectionLost } from "./connection.ts";

let onUnauthenticated: () => void = () => undefined;

const client = new Atoll({
  baseUrl: BASE_URL.href,
  // Keeps the session in an HttpOnly cookie, which scripts cannot read.
  session: "cookie",
  // Without retries, because pages show failures and retry themselves.
  maxRetries: 0,
  fetch: watchedFetch,
});

/** Returns the API client of the signed-in account. */
export function api(): Atoll {
  return client;
}

/** Sets the function that is called for each request rejected because the session has ended. */
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
