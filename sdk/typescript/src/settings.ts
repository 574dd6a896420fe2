import { ConfigurationError } from "./errors.ts";
import type { Backoff } from "./retries.ts";

export interface AtollOptions {
  /** `ak_…` or a session token `st_…`; default `ATOLL_API_KEY`. Without one only public endpoints work. */
  readonly apiKey?: string | undefined;
  /**
   * `cookie`: the session is in a cookie of the browser that no script can read, begun by `auth.signIn`. For pages that the coordinator
   * itself serves; `apiKey` and ATOLL_API_KEY are ignored.
   */
  readonly session?: "cookie" | undefined;
  /** Origin of the coordinator, with its path prefix if any; default `ATOLL_BASE_URL`. May end with "/api/v1". */
  readonly baseUrl?: string | undefined;
  /** Time limit of one try, 1 to 2_147_483_647; default 60_000, for chats and embeddings 600_000. */
  readonly timeoutMs?: number | undefined;
  /** Retries of a call, and reconnects of a stream in a row without progress; default 5. */
  readonly maxRetries?: number | undefined;
  /** Pauses between tries if the coordinator names none; default 500 ms, doubling up to 8_000 ms. */
  readonly backoff?: Backoff | undefined;
  /** A stream silent for this long counts as dropped; the coordinator writes every 15 s. Default 45_000. */
  readonly streamIdleMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the platform's fetch. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call, its pauses and its stream; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the client's setting. */
  readonly timeoutMs?: number | undefined;
  /** Replaces the client's setting. */
  readonly maxRetries?: number | undefined;
}

/** Options with all defaults. */
export interface Settings {
  /** The browser adds the session. */
  readonly hasCookie: boolean;
  readonly apiKey: string | null;
  /** Without a slash at the end. */
  readonly apiUrl: string;
  /** Null: the default of each call. */
  readonly timeoutMs: number | null;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly streamIdleMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  /** The program's own `fetch` may add a credential. */
  readonly hasOwnFetch: boolean;
}

const API_PATH = "/api/v1";

/** @throws {ConfigurationError} for a missing address, or one that is not http(s). */
export function resolveSettings(options: AtollOptions): Settings {
  const hasCookie = options.session === "cookie";
  return {
    hasCookie,
    apiKey: hasCookie ? null : (nonEmpty(options.apiKey) ?? environment("ATOLL_API_KEY")),
    apiUrl: apiUrlOf(nonEmpty(options.baseUrl) ?? environment("ATOLL_BASE_URL")),
    timeoutMs: options.timeoutMs ?? null,
    maxRetries: options.maxRetries ?? 5,
    backoff: options.backoff ?? { firstMs: 500, mostMs: 8_000 },
    streamIdleMs: options.streamIdleMs ?? 45_000,
    headers: options.headers ?? {},
    // Browsers reject a fetch that is not called on the global object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    hasOwnFetch: options.fetch !== undefined,
  };
}

function apiUrlOf(baseUrl: string | null): string {
  if (baseUrl === null) throw new ConfigurationError("No address of a coordinator: pass baseUrl or set ATOLL_BASE_URL");
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new ConfigurationError(`baseUrl "${baseUrl}" is not a URL; use one like https://atoll.example.com`);
  }
  if (!/^https?:$/.test(url.protocol))
    throw new ConfigurationError(`baseUrl "${baseUrl}" must start with http:// or https://`);
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path.endsWith(API_PATH) ? path : path + API_PATH);
}

function nonEmpty(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}

/** Browsers have no `process`, and a bundler's replacement may have no `env`. */
function environment(name: string): string | null {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return nonEmpty(process?.env?.[name]);
}
