import { ConfigurationError } from "./errors.ts";
import type { Backoff } from "./retries.ts";

export interface AtollOptions {
  /**
   * API key `ak_…` or session token `st_…`; default `ATOLL_API_KEY`. Without a credential, only public endpoints work.
   */
  readonly apiKey?: string | undefined;
  /**
   * `cookie` keeps the session of `auth.signIn` in an HttpOnly cookie. Only for pages that the coordinator itself serves. `apiKey` and
   * ATOLL_API_KEY are ignored.
   */
  readonly session?: "cookie" | undefined;
  /** Origin of the coordinator, with its path prefix if any; default `ATOLL_BASE_URL`. May end with "/api/v1". */
  readonly baseUrl?: string | undefined;
  /** Time limit of one attempt, 1 to 2_147_483_647; default 60_000, for chats and embeddings 600_000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum retries of a call, and consecutive reconnects of a stream without progress; default 5. */
  readonly maxRetries?: number | undefined;
  /** Pauses between attempts if the coordinator sends no Retry-After; default 500 ms, doubling up to 8_000 ms. */
  readonly backoff?: Backoff | undefined;
  /** Silence after which a stream counts as dropped; default 45_000. The coordinator writes every 15 s. */
  readonly streamIdleMs?: number | undefined;
  /** Headers sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the platform's fetch. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call, its pauses and its stream. The call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the client's setting. */
  readonly timeoutMs?: number | undefined;
  /** Replaces the client's setting. */
  readonly maxRetries?: number | undefined;
}

/** Options with all defaults. */
export interface Settings {
  /** Whether the browser adds the session as a cookie. */
  readonly hasCookie: boolean;
  readonly apiKey: string | null;
  /** Address of the API, without a final slash. */
  readonly apiUrl: string;
  /** Null uses the default of each call. */
  readonly timeoutMs: number | null;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly streamIdleMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  /** Whether the program passed a `fetch`, which may add a credential. */
  readonly hasOwnFetch: boolean;
}

const API_PATH = "/api/v1";

/** Fills in all defaults. @throws {ConfigurationError} if the address is missing or is not an http or https URL. */
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
  if (baseUrl === null)
    throw new ConfigurationError("The coordinator's address is missing. Pass baseUrl or set ATOLL_BASE_URL");
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new ConfigurationError(`baseUrl "${baseUrl}" must be a URL such as https://atoll.example.com`);
  }
  if (!/^https?:$/.test(url.protocol))
    throw new ConfigurationError(`baseUrl "${baseUrl}" must start with http:// or https://`);
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path.endsWith(API_PATH) ? path : path + API_PATH);
}

function nonEmpty(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}

/** Reads an environment variable. Browsers have no `process`, and a bundler's replacement may lack `env`. */
function environment(name: string): string | null {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return nonEmpty(process?.env?.[name]);
}
