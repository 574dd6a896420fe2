import { errorOfAnswer } from "./error-answer.ts";
import { AtollError, ConnectionError, ProtocolError } from "./errors.ts";
import type { AnswerOf, ApiPath, Method, Operation, PartsOf } from "./operation.ts";
import { Retries } from "./retries.ts";
import type { CallOptions, Settings } from "./settings.ts";
import { readEvents, type ServerEvent } from "./sse.ts";
import { Deadline } from "./timing.ts";

/** What the resources know of a call and its caller does not. */
export interface Manner {
  /** Default: all but POST and PATCH. */
  readonly isIdempotent?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest that a try may take where neither call nor client says. */
  readonly defaultTimeoutMs?: number;
  /** A status that is an answer here and not a failure. */
  readonly acceptedStatus?: number;
  /** Of events: the answer was 204, there is nothing after the event that the reader had last. */
  readonly onNoContent?: () => void;
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;
interface Parts {
  readonly path?: Values;
  readonly query?: Values;
  readonly body?: unknown;
}
interface Request extends Manner {
  readonly method: Method;
  readonly path: ApiPath;
  readonly parts: Parts;
  readonly options: CallOptions;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** The way to the coordinator: requests typed by its document, with timeouts, retries and typed errors. */
export class Http {
  readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** One call with its retries. */
  async call<M extends Method, P extends ApiPath>(
    method: M,
    path: P,
    parts: PartsOf<Operation<M, P>>,
    options: CallOptions = {},
    manner: Manner = {},
  ): Promise<AnswerOf<Operation<M, P>>> {
    const request: Request = { ...manner, method, path, parts: parts as Parts, options };
    const retries = this.retries(options, manner.isIdempotent ?? (method === "get" || method === "delete"));
    for (;;) {
      try {
        return (await this.#json(request)) as AnswerOf<Operation<M, P>>;
      } catch (error) {
        await retries.pause(error);
      }
    }
  }

  /**
   * The events of one connection, without retries; ends when the server closes it. Leaving it closes the connection.
   * The timeout covers the time until the answer begins; after that the stream must show a sign of life now and then.
   */
  async *events<M extends Method, P extends ApiPath>(
    method: M,
    path: P,
    parts: PartsOf<Operation<M, P>>,
    options: CallOptions = {},
    manner: Manner = {},
  ): AsyncGenerator<ServerEvent, void, undefined> {
    const request: Request = { ...manner, method, path, parts: parts as Parts, options };
    const deadline = this.#deadline(request);
    try {
      const response = await this.#fetch(request, "text/event-stream", deadline.signal);
      deadline.stopTimer();
      if (response.status === 204) {
        manner.onNoContent?.();
        return;
      }
      const type = response.headers.get("content-type") ?? "";
      if (response.body === null || !type.startsWith("text/event-stream")) {
        await response.body?.cancel();
        throw new ProtocolError(`${path} answered "${type}" instead of events`, { status: response.status });
      }
      yield* readEvents(response.body, this.settings.streamIdleMs);
    } catch (error) {
      throw failureOf(error, deadline.signal);
    } finally {
      deadline.release();
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

  async #json(request: Request): Promise<unknown> {
    const deadline = this.#deadline(request);
    try {
      const response = await this.#fetch(request, "application/json", deadline.signal);
      const text = await response.text();
      return text === "" ? undefined : parseAnswer(text, response);
    } catch (error) {
      throw failureOf(error, deadline.signal);
    } finally {
      deadline.release();
    }
  }

  #deadline({ path, options, defaultTimeoutMs }: Request): Deadline {
    const timeoutMs = options.timeoutMs ?? this.settings.timeoutMs ?? defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    return new Deadline(options.signal, timeoutMs, `No answer of ${path}`);
  }

  async #fetch(request: Request, accept: string, signal: AbortSignal): Promise<Response> {
    const { apiKey, apiUrl, headers, fetch } = this.settings;
    const { method, parts } = request;
    const response = await fetch(apiUrl + addressOf(request), {
      method: method.toUpperCase(),
      headers: {
        ...headers,
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        accept,
        ...(parts.body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(parts.body === undefined ? {} : { body: JSON.stringify(parts.body) }),
      signal,
      // An answer that a browser kept would be an old one.
      cache: "no-store",
    });
    if (response.ok || response.status === request.acceptedStatus) return response;
    throw errorOfAnswer(response, await response.text());
  }
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
    throw new ProtocolError(`The answer ${status} is not JSON; is this the address of a coordinator?`, {
      status,
      cause,
    });
  }
}

/** What was thrown on the way, as one of the client's errors. `signal` aborts with what its owner wants thrown. */
function failureOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AtollError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ConnectionError(`The connection to the coordinator failed: ${reason}`, { cause: error });
}
