import { CHAT } from "./chat.ts";
import type { Http } from "../http.ts";
import type { Moderation, ModerationRequest } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export class Moderations {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Returns one result per text, in the same order. */
  create(body: ModerationRequest, options?: CallOptions): Promise<Moderation> {
    return this.#http.call("post", "/moderations", { body }, options, CHAT);
  }
}
