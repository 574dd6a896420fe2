import { parseErrorResponse } from "./error-response.ts";
import { AtollError, ConfigurationError, ConnectionError, ProtocolError } from "./errors.ts";
import { PUBLIC_OPERATIONS } from "./openapi.ts";
import type { AnswerOf, ApiPath, Method, Operation, PartsOf } from "./operation.ts";
import { Retries } from "./retries.ts";
import type { CallOptions, Settings } from "./settings.ts";
import { readEvents, type ServerEvent } from "./sse.ts";
import { Deadline } from "./timing.ts";

/** Settings that a resource adds to the caller's options. */
export interface CallTraits {
  /** Whether the call may be repeated. Default: true except for POST and PATCH. */
  readonly isIdempotent?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit of one attempt if neither the call nor the client sets one. */
  readonly defaultTimeoutMs?: number;
  /** A failure status that counts as success for this call. */
  readonly acceptedStatus?: number;
  /** Form sent as `multipart/form-data` instead of JSON. */
  readonly form?: FormData;
  /** Called for a 204 from an event stream, when no event follows the last event that the reader has seen. */
  readonly onNoContent?: () => void;
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;
interface Parts {
  readonly path?: Values;
  readonly query?: Values;
  readonly body?: unknown;
}
interface Request extends CallTraits {
  readonly method: Method;
  readonly path: ApiPath;
  readonly parts: Parts;
  readonly options: CallOptions;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Sends requests to the coordinator, typed by its OpenAPI document, with timeouts, retries and typed errors. */
export class Http {
  readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** Calls an operation, with retries. */
  async call<M extends Method, P extends ApiPath>(
    method: M,
    path: P,
    parts: PartsOf<Operation<M, P>>,
    options: CallOptions = {},
    traits: CallTraits = {},
  ): Promise<AnswerOf<Operation<M, P>>> {
    const request: Request = { ...traits, method, path, parts: parts as Parts, options };
    const retries = this.retries(options, traits.isIdempotent ?? (method === "get" || method === "delete"));
    for (;;) {
      try {
        return (await this.#json(request)) as AnswerOf<Operation<M, P>>;
      } catch (error) {
        await retries.pause(error);
      }
    }
  }

  /** Streams the bytes of one response, without retries. The timeout applies until the response begins. */
  async *chunks<M extends Method, P extends ApiPath>(
    method: M,
    path: P,
    parts: PartsOf<Operation<M, P>>,
    options: CallOptions = {},
    traits: CallTraits = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const request: Request = { ...traits, method, path, parts: parts as Parts, options };
    const deadline = this.#deadline(request);
    try {
      const response = await this.#fetch(request, "*/*", deadline.signal);
      deadline.stopTimer();
      if (response.body !== null) yield* response.body;
    } catch (error) {
      throw failureOf(error, deadline.signal, this.settings.apiUrl);
    } finally {
      deadline.release();
    }
  }

  /**
   * Streams the events of one connection, without retries. Ends when the server closes it; leaving the loop closes the connection.
   * The timeout applies until the response begins, and `streamIdleMs` from then on.
   */
  async *events<M extends Method, P extends ApiPath>(
    method: M,
    path: P,
    parts: PartsOf<Operation<M, P>>,
    options: CallOptions = {},
    traits: CallTraits = {},
  ): AsyncGenerator<ServerEvent, void, undefined> {
    const request: Request = { ...traits, method, path, parts: parts as Parts, options };
    const deadline = this.#deadline(request);
    try {
      const response = await this.#fetch(request, "text/event-stream", deadline.signal);
      deadline.stopTimer();
      if (response.status === 204) {
        traits.onNoContent?.();
        return;
      }
      const type = response.headers.get("content-type") ?? "";
      if (response.body === null || !type.startsWith("text/event-stream")) {
        await response.body?.cancel();
        throw new ProtocolError(
          `${path} returned "${type}" instead of text/event-stream. Check that baseUrl is the address of a coordinator`,
          { status: response.status },
        );
      }
      yield* readEvents(response.body, this.settings.streamIdleMs);
    } catch (error) {
      throw failureOf(error, deadline.signal, this.settings.apiUrl);
    } finally {
      deadline.release();
    }
  }

  /** Returns the body of a response unchanged, with retries. */
  async bytes<M extends Method, P extends ApiPath>(
    method: M,
    path: P,
    parts: PartsOf<Operation<M, P>>,
    options: CallOptions = {},
    traits: CallTraits = {},
  ): Promise<Blob> {
    const request: Request = { ...traits, method, path, parts: parts as Parts, options };
    const retries = this.retries(options, true);
    for (;;) {
      try {
        return await this.#read(request, "*/*", (response) => response.blob());
      } catch (error) {
        await retries.pause(error);
      }
    }
  }

  retries({ maxRetries, signal }: CallOptions, isIdempotent: boolean): Retries {
    const { settings } = this;
    return new Retries({
      maxRetries: maxRetries ?? settings.maxRetries,
      backoff: settings.backoff,
      isIdempotent,
      signal,
    });
  }

  #json(request: Request): Promise<unknown> {
    return this.#read(request, "application/json", async (response) => {
      const text = await response.text();
      return text === "" ? undefined : parseAnswer(text, response);
    });
  }

  async #read<T>(request: Request, accept: string, read: (response: Response) => Promise<T>): Promise<T> {
    const deadline = this.#deadline(request);
    try {
      return await read(await this.#fetch(request, accept, deadline.signal));
    } catch (error) {
      throw failureOf(error, deadline.signal, this.settings.apiUrl);
    } finally {
      deadline.release();
    }
  }

  #deadline({ path, options, defaultTimeoutMs }: Request): Deadline {
    const timeoutMs = options.timeoutMs ?? this.settings.timeoutMs ?? defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    return new Deadline(options.signal, timeoutMs, `No response from ${path}`);
  }

  async #fetch(request: Request, accept: string, signal: AbortSignal): Promise<Response> {
    const { apiKey, apiUrl, hasCookie, headers, fetch } = this.settings;
    const { method, parts, form } = request;
    this.#assertCredential(request);
    const response = await fetch(apiUrl + addressOf(request), {
      method: method.toUpperCase(),
      headers: {
        ...headers,
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        // Pages of other origins cannot send this header, so it protects the cookie against cross-site requests.
        ...(hasCookie ? { "atoll-console": "1" } : {}),
        accept,
        ...(parts.body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(parts.body === undefined ? {} : { body: JSON.stringify(parts.body) }),
      // fetch adds the content type with the boundary.
      ...(form === undefined ? {} : { body: form }),
      signal,
      ...(hasCookie ? { credentials: "same-origin" } : {}),
      // A response from the browser's cache would be out of date.
      cache: "no-store",
    });
    if (response.ok || response.status === request.acceptedStatus) return response;
    throw parseErrorResponse(response, await response.text());
  }

  /** Checks for a credential before a request that needs one. @throws {ConfigurationError} if there is no credential. */
  #assertCredential({ method, path, headers }: Request): void {
    const { apiKey, hasCookie, hasOwnFetch, headers: own } = this.settings;
    if (apiKey !== null || hasCookie || hasOwnFetch || PUBLIC_OPERATIONS.has(`${method} ${path}`)) return;
    if (hasAuthorization({ ...own, ...headers })) return;
    throw new ConfigurationError(
      `${method.toUpperCase()} ${path} requires an API key. Pass apiKey to the client, or set ATOLL_API_KEY`,
    );
  }
}

/** Returns whether the headers that the program set contain a credential. */
function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => /^(?:authorization|x-api-key)$/i.test(name));
}

function addressOf({ path, parts }: Request): string {
  const filled = path.replaceAll(/\{(.+?)\}/g, (_, name: string) => encodeURIComponent(String(parts.path?.[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? filled : `${filled}?${text}`;
}

function parseAnswer(text: string, { status }: Response): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProtocolError(`The response ${status} is not JSON. Check that baseUrl is the address of a coordinator`, {
      status,
      cause,
    });
  }
}

/** Returns a thrown value as an error of the client, or the signal's reason if it aborted. */
function failureOf(error: unknown, signal: AbortSignal, apiUrl: string): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AtollError) return error;
  return new ConnectionError(`The connection to ${apiUrl} failed: ${reasonOf(error)}`, { cause: error });
}

/** Returns the reason why fetch failed. In Node.js the message is "fetch failed", and the cause contains the reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error as { cause?: { code?: string; message?: string } };
  const why = cause?.message ? cause.message : cause?.code;
  return why === undefined ? error.message : `${error.message} (${why})`;
}
