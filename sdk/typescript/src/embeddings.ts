import { CHAT } from "./chat.ts";
import type { Http } from "./http.ts";
import type { Embeddings, EmbeddingsRequest } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

export class EmbeddingsResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** One vector for each text, in the same order. */
  async create(body: EmbeddingsRequest, options?: CallOptions): Promise<Embeddings> {
    const parts = { body: { ...body, encoding_format: "float" as const } };
    // The request asks for floats, so no vector is base64.
    return (await this.#http.call("post", "/embeddings", parts, options, CHAT)) as Embeddings;
  }
}
