import { ConnectionError, ProtocolError } from "../errors.ts";
import { isRecord } from "../error-response.ts";
import type { Http } from "../http.ts";
import { readPayload } from "../job-events.ts";
import { JobFailedError } from "../job-failed-error.ts";
import type { ChatCompletion, ChatCompletionChunk, ChatRequest } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";
import type { ServerEvent } from "../sse.ts";

/** Body of a chat request, without `stream`, which the method sets. */
export type ChatBody = Omit<ChatRequest, "stream">;

/** Long timeout, because a chat may wait for an Island, for its model to load, and for all tokens. */
export const CHAT = { defaultTimeoutMs: 600_000 };

/**
 * OpenAI-compatible chat completions. The coordinator cancels a chat when its connection closes, so the client never retries it after
 * a broken connection. For a completion that survives a broken connection, submit a job and stream it.
 */
export class Chat {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  create(body: ChatBody, options?: CallOptions): Promise<ChatCompletion> {
    return this.#http.call("post", "/chat/completions", { body: { ...body, stream: false } }, options, CHAT);
  }

  /**
   * Streams the chunks of a completion. Sends the request when the first chunk is read.
   * @throws {JobFailedError} if the job fails, even after output has begun. @throws {ConnectionError} if the connection breaks.
   */
  async *stream(body: ChatBody, options: CallOptions = {}): AsyncGenerator<ChatCompletionChunk, void, undefined> {
    const retries = this.#http.retries(options, false);
    const parts = { body: { ...body, stream: true } };
    for (;;) {
      try {
        for await (const event of this.#http.events("post", "/chat/completions", parts, options, CHAT)) {
          if (event.data === "[DONE]") return;
          yield readChunk(event);
        }
        throw new ConnectionError("The connection closed before the end of the chat. Send the chat again");
      } catch (error) {
        // Retries only a request that was rejected before it had any effect.
        await retries.pause(error);
      }
    }
  }

  /** Streams the text of a completion in pieces. */
  async *text(body: ChatBody, options?: CallOptions): AsyncGenerator<string, void, undefined> {
    for await (const { choices } of this.stream(body, options)) {
      const content = choices[0]?.delta.content;
      if (content !== undefined && content !== "") yield content;
    }
  }
}

/** Parses a chunk. @throws {JobFailedError} for an `{error}` line. */
function readChunk(event: ServerEvent): ChatCompletionChunk {
  const chunk = readPayload(event);
  if (!isRecord(chunk)) throw new ProtocolError("A chunk of the chat must be an object");
  const { error } = chunk;
  if (!isRecord(error)) return chunk as unknown as ChatCompletionChunk;
  const [jobError, retryable] = [String(error["code"]), error["retryable"] === true];
  throw new JobFailedError(String(error["message"]), { jobError, retryable });
}
