import { ConnectionError, ProtocolError } from "./errors.ts";
import { isRecord } from "./error-answer.ts";
import type { Http } from "./http.ts";
import { readPayload } from "./job-events.ts";
import { JobFailedError } from "./job-failed-error.ts";
import type { ChatCompletion, ChatCompletionChunk, ChatRequest } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";
import type { ServerEvent } from "./sse.ts";

/** `stream` is said by the method. */
export type ChatBody = Omit<ChatRequest, "stream">;

/** A chat may wait for an Island, for a model to load, and for all its tokens. */
export const CHAT = { defaultTimeoutMs: 600_000 };

/**
 * Chats in the shape of OpenAI's. A chat ends with its connection: the coordinator cancels it when the client leaves, so it is
 * never repeated after a cut. For an answer that outlives connections submit a job and stream that.
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
   * The chunks of the answer; the request is sent when the first is asked for.
   * @throws {JobFailedError} in mid-stream when the job failed. @throws {ConnectionError} when the stream was cut.
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
        throw new ConnectionError("The chat's stream was cut before its end");
      } catch (error) {
        // Repeats only what was refused before it began.
        await retries.pause(error);
      }
    }
  }

  /** The text of the answer, piece by piece. */
  async *text(body: ChatBody, options?: CallOptions): AsyncGenerator<string, void, undefined> {
    for await (const { choices } of this.stream(body, options)) {
      const content = choices[0]?.delta.content;
      if (content !== undefined && content !== "") yield content;
    }
  }
}

/** @throws {JobFailedError} for the line that stands for an error. */
function readChunk(event: ServerEvent): ChatCompletionChunk {
  const chunk = readPayload(event);
  if (!isRecord(chunk)) throw new ProtocolError("A chunk of the chat is not an object");
  const { error } = chunk;
  if (!isRecord(error)) return chunk as unknown as ChatCompletionChunk;
  const [jobError, retryable] = [String(error["code"]), error["retryable"] === true];
  throw new JobFailedError(String(error["message"]), { jobError, retryable });
}
