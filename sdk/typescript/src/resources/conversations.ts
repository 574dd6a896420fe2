import { CHAT } from "./chat.ts";
import { deleteOnce } from "../delete-once.ts";
import { ConnectionError } from "../errors.ts";
import type { Http } from "../http.ts";
import { isLast, readJobEvent, readPayload, type StreamedEvent } from "../job-events.ts";
import { Pages } from "../pages.ts";
import type {
  AnsweredMessage,
  Conversation,
  CreateConversation,
  Message,
  MessageEvent,
  PostMessage,
  UpdateConversation,
} from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface MessageFilter {
  /** Order of the messages; default `asc`: oldest first. */
  readonly order?: "asc" | "desc" | undefined;
  /** Messages per request, 1 to 100; default 100. */
  readonly pageSize?: number | undefined;
}

/** Chats whose history the coordinator stores. */
export class Conversations {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async create(conversation: CreateConversation = {}, options?: CallOptions): Promise<Conversation> {
    return (await this.#http.call("post", "/conversations", { body: conversation }, options)).data;
  }

  /** Lists conversations, newest first. */
  list({ pageSize: limit = 100 }: { readonly pageSize?: number } = {}, options?: CallOptions): Pages<Conversation> {
    const load = (offset: number) => this.#http.call("get", "/conversations", { query: { limit, offset } }, options);
    return new Pages(load, ({ id }) => id);
  }

  async get(id: string, options?: CallOptions): Promise<Conversation> {
    const { messages: _, ...conversation } = (await this.#read(id, { limit: 1 }, options)).data;
    return conversation;
  }

  messages(id: string, filter: MessageFilter = {}, options?: CallOptions): Pages<Message> {
    const { order = "asc", pageSize: limit = 100 } = filter;
    const load = async (offset: number) => {
      const { data, meta } = await this.#read(id, { limit, offset, order }, options);
      return { data: data.messages, meta };
    };
    return new Pages(load, (message) => message.id);
  }

  /** Changes the given fields. */
  async update(id: string, change: UpdateConversation, options?: CallOptions): Promise<Conversation> {
    return (await this.#http.call("patch", "/conversations/{id}", { path: { id }, body: change }, options)).data;
  }

  /** Deletes a conversation with its messages and cancels an answer in progress. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/conversations/{id}", { path: { id } }, options));
  }

  /** Sends a message and waits for the complete answer. */
  async send(id: string, message: PostMessage, options?: CallOptions): Promise<AnsweredMessage> {
    const parts = { path: { id }, body: { ...message, stream: false } };
    return (await this.#http.call("post", "/conversations/{id}/messages", parts, options, CHAT)).data;
  }

  /**
   * Sends a message and streams the answer: one `message`, then the events of its job. The coordinator cancels the answer when the
   * connection closes.
   * @throws {ConnectionError} if the connection breaks.
   */
  async *stream(
    id: string,
    message: PostMessage,
    options: CallOptions = {},
  ): AsyncGenerator<MessageEvent | StreamedEvent, void, undefined> {
    const retries = this.#http.retries(options, false);
    const parts = { path: { id }, body: { ...message, stream: true } };
    for (;;) {
      try {
        for await (const event of this.#http.events("post", "/conversations/{id}/messages", parts, options, CHAT)) {
          if (event.event === "message") {
            yield readPayload(event) as MessageEvent;
            continue;
          }
          const read = readJobEvent(event);
          if (read === null) continue;
          yield read;
          if (isLast(read)) return;
        }
        throw new ConnectionError(
          "The connection closed before the end of the answer. The conversation contains the part that arrived",
        );
      } catch (error) {
        // Retries only a request that was rejected before it had any effect.
        await retries.pause(error);
      }
    }
  }

  #read(id: string, query: { limit: number; offset?: number; order?: "asc" | "desc" }, options?: CallOptions) {
    return this.#http.call("get", "/conversations/{id}", { path: { id }, query }, options);
  }
}
