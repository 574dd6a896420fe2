import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { z, ZodError } from "zod";
import { abortable } from "../../../shared/async/abortable.ts";
import { JobFailure, type JobErrorCode } from "../../../shared/errors.ts";
import { KIB, MIB } from "../../../shared/format-bytes.ts";
import type { EngineAbility, EngineModel, ReadEngine } from "./engine-profile.ts";

/** Longest wait for a small response, such as the list of models. */
const MAX_READ_MS = 5_000;
const MAX_READ_BYTES = 4 * MIB;
const MAX_ERROR_BYTES = 16 * KIB;
/** Longest time in which a run sends nothing, less than the coordinator's default `silence_limit_s`. */
const MAX_SILENCE_MS = 50_000;
/** Longest wait for the first byte of a run, before which the engine may load the model. */
const MAX_LOAD_MS = 600_000;
const MAX_QUOTED_CHARS = 300;

/** Pauses of an engine after failures, in ms. Further failures in a row extend them. */
export const PAUSES_MS = {
  gone: 1_000,
  overloaded: 2_000,
  hung: 30_000,
  garbage: 30_000,
  memory: 30_000,
  refused: 60_000,
};
/** Longest `Retry-After` of an engine that is respected. */
const MAX_RETRY_AFTER_S = 60;
const NO_MEMORY = /out of memory|more (?:system )?memory|(?:failed|unable) to allocate|resource limitations/i;
/** vLLM and llama-server call tools only with certain flags, which they do not report. */
const NO_TOOLS = /tool.*(?:requires|support)/i;
const TOO_LONG = /context[ _](?:length|size|window)|max(?:imum )?_?model[ _]len|too large to process/i;

type FailureOptions = Partial<Pick<EngineFailure, "pauseMs" | "isUnavailable" | "needsKey" | "lacks">> & {
  readonly code?: JobErrorCode;
  readonly cause?: unknown;
};

/** Thrown for an engine that cannot serve now. Another Island, or the same engine later, may run the job. */
export class EngineFailure extends JobFailure {
  /** Time in which the engine should get no job, in ms; 0 if only this job failed. */
  readonly pauseMs: number;
  /** Whether the engine does not listen, hangs, or is starting, so that nothing is known about it. */
  readonly isUnavailable: boolean;
  /** Whether the engine requires an API key, or another one. */
  readonly needsKey: boolean;
  /** Ability that the engine turned out to lack; null: none. */
  readonly lacks: EngineAbility | null;
  constructor(message: string, options: FailureOptions = {}) {
    const { pauseMs = 0, isUnavailable = false, needsKey = false, lacks = null } = options;
    super(options.code ?? "runtime_unavailable", message, { retryable: true, cause: options.cause });
    this.pauseMs = pauseMs;
    this.isUnavailable = isUnavailable;
    this.needsKey = needsKey;
    this.lacks = lacks;
  }
}

export interface EngineConnection extends Disposable {
  readonly url: string;
  readonly read: ReadEngine;
  /** Number of sockets of reads that were closed. While it is the same, their other ends still run. */
  readonly closedReads: number;
  /**
   * Starts a run of a model. Aborting `signal` closes the connection, at which engines stop the work.
   * @returns the response, with status 200. The caller reads or destroys it.
   * @throws {JobFailure}
   */
  readonly post: (path: string, body: object, model: EngineModel, signal: AbortSignal) => Promise<IncomingMessage>;
}

/**
 * Opens an engine's HTTP API. Sockets are kept for further runs.
 * @param checkIdentity called before a run's response is read, since the engine may have changed. It rejects if the
 * engine no longer serves the model.
 * @param socketPath Unix socket to which requests go instead of the URL's host. Default null.
 */
export function connectEngine(
  url: string,
  apiKey: string | null,
  checkIdentity: (model: EngineModel) => Promise<void> = () => Promise.resolve(),
  socketPath: string | null = null,
): EngineConnection {
  const isSecure = url.startsWith("https:");
  const open = (): HttpAgent => new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  // llama-server closes the socket of a stream. The socket of a read shows that its process still runs.
  const agents = { read: open(), run: open() };
  const closed = new AbortController();
  const readSockets = new WeakSet<Socket>();
  let closedReads = 0;
  const headers = {
    "user-agent": "atoll-island",
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  function send(
    path: string,
    body: object | null,
    signal: AbortSignal,
    use: keyof typeof agents,
  ): Promise<IncomingMessage> {
    const text = body === null ? null : JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = (isSecure ? httpsRequest : httpRequest)(`${url}${path}`, {
      agent: agents[use],
      ...(socketPath === null ? {} : { socketPath }),
      method: text === null ? "GET" : "POST",
      headers: text === null ? headers : { ...headers, "content-type": "application/json" },
      signal,
      timeout: MAX_LOAD_MS,
    });
    let response: IncomingMessage | null = null;
    // The listener stays after the response: an error of the socket without listener would end the process.
    sent.on("error", (cause: NodeJS.ErrnoException) => {
      if (response !== null) return;
      if (signal.aborted) reject(signal.reason as Error);
      // Servers close a kept socket after a time or a number of requests. Each repetition removes one such socket.
      else if (sent.reusedSocket && cause.code === "ECONNRESET") resolve(send(path, body, signal, use));
      else reject(cause instanceof EngineFailure ? cause : brokenBy(cause));
    });
    sent.on("timeout", () => {
      const silenceS = (response === null ? MAX_LOAD_MS : MAX_SILENCE_MS) / 1_000;
      const message = `The engine at ${url} sent nothing for ${silenceS} s`;
      (response ?? sent).destroy(new EngineFailure(message, { pauseMs: PAUSES_MS.hung }));
    });
    sent.once("response", (arrived) => {
      response = arrived;
      arrived.socket.setTimeout(MAX_SILENCE_MS);
      // Node removes its listener before an abort in the response's last moment has its effect.
      if (!sent.reusedSocket) arrived.socket.on("error", () => undefined);
      resolve(arrived);
    });
    sent.end(text ?? undefined);
    return promise;
  }

  function brokenBy(cause: unknown): EngineFailure {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new EngineFailure(`The engine at ${url} does not respond: ${why}`, {
      pauseMs: PAUSES_MS.gone,
      isUnavailable: true,
      cause,
    });
  }

  async function assertOk(path: string, response: IncomingMessage, model?: EngineModel): Promise<void> {
    if (response.statusCode === 200) return;
    const text = await readText(response, MAX_ERROR_BYTES).catch(() => "");
    throw failureOf(path, response, text, model?.contextTokens ?? null);
  }

  /** Counts the socket of a read once it is closed. */
  function watchSocket(socket: Socket): void {
    if (readSockets.has(socket)) return;
    readSockets.add(socket);
    socket.once("close", () => (closedReads += 1));
  }

  return {
    url,
    get closedReads() {
      return closedReads;
    },
    async read(path, body) {
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(MAX_READ_MS)]);
      const readWhole = async (): Promise<string> => {
        const response = await send(path, body ?? null, signal, "read");
        watchSocket(response.socket);
        await assertOk(path, response);
        return readText(response, MAX_READ_BYTES);
      };
      const text = await readWhole().catch((error: unknown) => {
        if (signal.aborted) throw brokenBy(new Error(`no whole response to ${path} within ${MAX_READ_MS / 1_000} s`));
        throw error instanceof JobFailure ? error : brokenBy(error);
      });
      return valueOf(text);
    },
    async post(path, body, model, signal) {
      const response = await send(path, body, signal, "run");
      // A reader attaches its listeners later. Without one, an error of the response would end the process.
      response.on("error", () => undefined);
      try {
        await assertOk(path, response, model);
        await abortable(checkIdentity(model), signal);
        return response;
      } catch (error) {
        response.destroy();
        throw signal.aborted ? (signal.reason as Error) : error;
      }
    },
    [Symbol.dispose]() {
      closed.abort();
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/**
 * Returns the failure for a response other than 200.
 * @param contextTokens what the coordinator knows of the model's context; null: nothing, so that it may send prompts
 * for which only this engine is too small.
 */
function failureOf(path: string, response: IncomingMessage, text: string, contextTokens: number | null): JobFailure {
  const { statusCode: status = 0, headers } = response;
  const why = messageIn(text);
  if (NO_MEMORY.test(why)) return memoryFailure(why);
  if (contextTokens !== null && TOO_LONG.test(why)) {
    return new JobFailure("context_length_exceeded", `The prompt is too long for the engine: ${why}`);
  }
  // A damaged image is the client's fault, so other Islands would only fail as well.
  if (status === 400 && /\bimage\b/i.test(text)) {
    return new JobFailure("invalid_input", `The engine cannot read an image of the chat: ${why}`);
  }
  const waitS = Number(headers["retry-after"] ?? 0);
  switch (status) {
    case 401:
    case 403:
      return new EngineFailure(`The engine refused the API key for ${path}. Set engines.api_key: ${why}`, {
        pauseMs: PAUSES_MS.refused,
        needsKey: status === 401,
      });
    case 404:
      return new EngineFailure(`The engine has no ${path} or no such model: ${why}`, { pauseMs: PAUSES_MS.gone });
    case 429:
    case 503: {
      const pauseMs = waitS > 0 ? Math.min(waitS, MAX_RETRY_AFTER_S) * 1_000 : PAUSES_MS.overloaded;
      return new EngineFailure(`The engine responded to ${path} with status ${status}: ${why}`, {
        pauseMs,
        isUnavailable: true,
      });
    }
    default: {
      const message = `The engine responded to ${path} with status ${status}: ${why}`;
      if (NO_TOOLS.test(why)) return new EngineFailure(message, { lacks: "tools" });
      if (![400, 413, 422].includes(status)) return new EngineFailure(message);
      // The request is the cause, so that nothing is known about the engine.
      return new JobFailure("runtime_unavailable", message, { retryable: true });
    }
  }
}

/** Returns the failure for an error of a profile's functions, which validate the engine's responses. */
export function failureFor(error: unknown, url: string, profileName = "an engine"): EngineFailure {
  if (error instanceof EngineFailure) return error;
  const why = (error instanceof ZodError ? z.prettifyError(error) : String(error)).replaceAll(/\s+/g, " ");
  const message = `The engine at ${url} does not respond as ${profileName} does: ${why.slice(0, MAX_QUOTED_CHARS)}`;
  return new EngineFailure(message, { pauseMs: PAUSES_MS.garbage });
}

/** Returns the failure for an error text of an engine, in a response or in a stream. */
export function failureIn(why: string): EngineFailure {
  if (NO_MEMORY.test(why)) return memoryFailure(why);
  return new EngineFailure(`The engine failed during the response: ${why.slice(0, MAX_QUOTED_CHARS)}`);
}

function memoryFailure(why: string): EngineFailure {
  const message = `The engine has too little memory: ${why.slice(0, MAX_QUOTED_CHARS)}`;
  return new EngineFailure(message, { pauseMs: PAUSES_MS.memory, code: "out_of_memory" });
}

/** Returns the message of an error response, which engines write in several forms. */
function messageIn(text: string): string {
  const { error, message, detail } = Object(valueOf(text)) as Record<string, unknown>;
  const found = (error as { message?: unknown } | null | undefined)?.message ?? error ?? message ?? detail ?? text;
  return (typeof found === "string" ? found : JSON.stringify(found)).slice(0, MAX_QUOTED_CHARS);
}

/** Returns the value of JSON; a text that is not JSON as it is. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Reads a whole body. @throws {EngineFailure} if it has more than `maxBytes`; errors of the connection. */
export async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      response.destroy();
      throw new EngineFailure(`The engine sent more than ${maxBytes} bytes`, { pauseMs: PAUSES_MS.garbage });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
