import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { JobFailure } from "../../../shared/errors.ts";
import { KIB, MIB } from "../../../shared/format-bytes.ts";
import type { ReadEngine } from "./engine-profile.ts";

/** Longest wait for a small response, such as the list of models. */
const MAX_READ_MS = 5_000;
const MAX_READ_BYTES = 4 * MIB;
const MAX_ERROR_BYTES = 16 * KIB;
/** Longest time in which a run sends nothing. The coordinator's limits are usually shorter. */
const MAX_SILENCE_MS = 600_000;
const MAX_QUOTED_CHARS = 300;

/** Thrown for an engine that cannot serve now. Another Island, or the same engine later, may run the job. */
export class EngineFailure extends JobFailure {
  /** Time in which the engine should get no job, in ms; 0 if only this job failed. */
  readonly pauseMs: number;
  /** Whether nothing responds at the address. */
  readonly isUnreachable: boolean;
  constructor(message: string, options: { pauseMs?: number; isUnreachable?: boolean; cause?: unknown } = {}) {
    const { pauseMs = 0, isUnreachable = false, cause } = options;
    super("runtime_unavailable", message, { retryable: true, cause });
    this.pauseMs = pauseMs;
    this.isUnreachable = isUnreachable;
  }
}

export interface EngineConnection extends Disposable {
  readonly url: string;
  readonly read: ReadEngine;
  /**
   * Starts a run. Aborting `signal` closes the connection, at which engines stop the work.
   * @returns the response, with status 200. The caller reads or destroys it.
   * @throws {JobFailure}
   */
  readonly post: (path: string, body: object, signal: AbortSignal) => Promise<IncomingMessage>;
}

/**
 * Opens an engine's HTTP API. Sockets are kept for further runs.
 * @param checkIdentity called before the first run on a new socket is read, since another process may listen there.
 * It rejects if the engine no longer serves the same models.
 * @param socketPath Unix socket to which requests go instead of the URL's host. Default null.
 */
export function connectEngine(
  url: string,
  apiKey: string | null,
  checkIdentity: () => Promise<void> = () => Promise.resolve(),
  socketPath: string | null = null,
): EngineConnection {
  const isSecure = url.startsWith("https:");
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const checked = new WeakSet<Socket>();
  const headers = {
    "user-agent": "atoll-island",
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  function send(path: string, body: object | null, signal: AbortSignal): Promise<IncomingMessage> {
    const text = body === null ? null : JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = (isSecure ? httpsRequest : httpRequest)(`${url}${path}`, {
      agent,
      ...(socketPath === null ? {} : { socketPath }),
      method: text === null ? "GET" : "POST",
      headers: text === null ? headers : { ...headers, "content-type": "application/json" },
      signal,
      timeout: MAX_SILENCE_MS,
    });
    // The listener stays after the response: an error of the socket without listener would end the process.
    sent.on("error", (cause: NodeJS.ErrnoException) => {
      if (signal.aborted) return reject(signal.reason as Error);
      // Servers close a kept socket after a time or a number of requests. Each repetition removes one such socket.
      if (sent.reusedSocket && cause.code === "ECONNRESET") return resolve(send(path, body, signal));
      return reject(brokenBy(cause));
    });
    sent.on("timeout", () => sent.destroy(new Error(`no byte for ${MAX_SILENCE_MS / 1_000} s`)));
    sent.once("response", resolve);
    sent.end(text ?? undefined);
    return promise;
  }

  function brokenBy(cause: unknown): EngineFailure {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new EngineFailure(`The engine at ${url} does not respond: ${why}`, {
      pauseMs: 1_000,
      isUnreachable: true,
      cause,
    });
  }

  async function assertOk(path: string, response: IncomingMessage): Promise<void> {
    const { statusCode = 0 } = response;
    if (statusCode === 200) return;
    const text = await readText(response, MAX_ERROR_BYTES).catch(() => "");
    throw failureOf(path, statusCode, text, response.headers["retry-after"]);
  }

  return {
    url,
    async read(path, body) {
      const signal = AbortSignal.timeout(MAX_READ_MS);
      const response = await send(path, body ?? null, signal).catch((error: unknown) => {
        throw signal.aborted ? brokenBy(new Error(`no response to ${path} within ${MAX_READ_MS / 1_000} s`)) : error;
      });
      await assertOk(path, response);
      const text = await readText(response, MAX_READ_BYTES).catch((error: unknown) => {
        throw error instanceof JobFailure ? error : brokenBy(error);
      });
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return text;
      }
    },
    async post(path, body, signal) {
      const response = await send(path, body, signal);
      // A reader attaches its listeners later. Without one, an error of the response would end the process.
      response.on("error", () => undefined);
      try {
        await assertOk(path, response);
        if (!checked.has(response.socket)) {
          await checkIdentity();
          checked.add(response.socket);
        }
        return response;
      } catch (error) {
        response.destroy();
        throw signal.aborted ? (signal.reason as Error) : error;
      }
    },
    [Symbol.dispose]() {
      agent.destroy();
    },
  };
}

/** Returns the failure for a response other than 200. */
function failureOf(path: string, status: number, text: string, retryAfter: string | undefined): JobFailure {
  const why = messageIn(text);
  if (/context[ _](?:length|size|window)/i.test(text)) {
    return new JobFailure("context_length_exceeded", `The prompt is too long for the engine: ${why}`);
  }
  // A damaged image is the client's fault, so other Islands would only fail as well.
  if (status === 400 && /\bimage\b/i.test(text)) {
    return new JobFailure("invalid_input", `The engine cannot read an image of the chat: ${why}`);
  }
  const waitS = Number(retryAfter ?? 0);
  const pauseMs = Number.isFinite(waitS) && waitS > 0 ? Math.min(waitS, 60) * 1_000 : 2_000;
  if (status === 429 || status >= 500) {
    return new EngineFailure(`The engine responded to ${path} with status ${status}: ${why}`, { pauseMs });
  }
  return new EngineFailure(`The engine refused ${path} with status ${status}: ${why}`);
}

/** Returns the message of an error response, which engines write in several forms. */
function messageIn(text: string): string {
  let found: unknown = text;
  try {
    const { error, message, detail } = JSON.parse(text) as Record<string, unknown>;
    found = (error as { message?: unknown } | undefined)?.message ?? error ?? message ?? detail ?? text;
  } catch {
    // The whole text is the message.
  }
  return (typeof found === "string" ? found : JSON.stringify(found)).slice(0, MAX_QUOTED_CHARS);
}

/** Reads a whole body. @throws {EngineFailure} if it has more than `maxBytes`; errors of the connection. */
export async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      response.destroy();
      throw new EngineFailure(`The engine sent more than ${maxBytes} bytes`, { pauseMs: 30_000 });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
