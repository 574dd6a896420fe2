import { CHAT } from "./chat.ts";
import type { Http } from "./http.ts";
import type { SpeechRequest } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

export class AudioResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Speaks a text: the bytes of the file as they come. The coordinator cancels the job when the connection closes. */
  speech(
    body: Omit<SpeechRequest, "stream_format">,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#http.bytes("post", "/audio/speech", { body }, options, CHAT);
  }
}
