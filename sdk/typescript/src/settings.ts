import { ConfigurationError } from "./errors.ts";
import type { Backoff } from "./retries.ts";

export interface AtollOptions {
  /** `ak_…` or a session token `st_…`; default `ATOLL_API_KEY`. Without one only the public endpoints answer. */
  readonly apiKey?: string | undefined;
  /** Origin of the coordinator, and path prefix if it has one; default `ATOLL_BASE_URL`. "/api/v1" at its end is fine. */
  readonly baseUrl?: string | undefined;
  /** Longest that one try of a call may take, 1 to 2_147_483_647; default 60_000, for chats 600_000. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is tried again, and how often in a row a stream is taken up without any progress; default 5. */
  readonly maxRetries?: number | undefined;
  /** Pauses between tries when the coordinator names none; default 500 ms, doubled up to 8_000 ms. */
  readonly backoff?: Backoff | undefined;
  /** A stream that is silent for so long is taken for dropped; the coordinator writes every 15 s. Default 45_000. */
  readonly streamIdleMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Instead of the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call, its pauses and its stream; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's. */
  readonly timeoutMs?: number | undefined;
  /** Instead of the client's. */
  readonly maxRetries?: number | undefined;
}

/** Options with all defaults filled in. */
export interface Settings {
  readonly apiKey: string | null;
  /** Without a slash at its end. */
  readonly apiUrl: string;
  /** Null: each call has its own default. */
  readonly timeoutMs: number | null;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly streamIdleMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

const API_PATH = "/api/v1";

/** @throws {ConfigurationError} without an address, or with one that is not http(s). */
export function resolveSettings(options: AtollOptions): Settings {
  return {
    apiKey: nonEmpty(options.apiKey) ?? environment("ATOLL_API_KEY"),
    apiUrl: apiUrlOf(nonEmpty(options.baseUrl) ?? environment("ATOLL_BASE_URL")),
    timeoutMs: options.timeoutMs ?? null,
    maxRetries: options.maxRetries ?? 5,
    backoff: options.backoff ?? { firstMs: 500, mostMs: 8_000 },
    streamIdleMs: options.streamIdleMs ?? 45_000,
    headers: options.headers ?? {},
    // Browsers refuse a fetch that is called on anything but the global object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
}

function apiUrlOf(baseUrl: string | null): string {
  if (baseUrl === null) throw new ConfigurationError("No address: pass baseUrl or set ATOLL_BASE_URL");
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new ConfigurationError(`baseUrl "${baseUrl}" is not a URL`);
  }
  if (!/^https?:$/.test(url.protocol)) throw new ConfigurationError(`baseUrl "${baseUrl}" is not http or https`);
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path.endsWith(API_PATH) ? path : path + API_PATH);
}

function nonEmpty(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}

/** Browsers have no `process`; what bundlers put in its place may have no `env`. */
function environment(name: string): string | null {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return nonEmpty(process?.env?.[name]);
}
