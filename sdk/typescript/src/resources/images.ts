import { CHAT } from "./chat.ts";
import type { Http } from "../http.ts";
import type { Images, ImagesRequest } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export class ImagesResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Generates images: PNG files in base64. The coordinator cancels the job when the connection closes. */
  generate(body: ImagesRequest, options?: CallOptions): Promise<Images> {
    return this.#http.call("post", "/images/generations", { body }, options, CHAT);
  }
}
