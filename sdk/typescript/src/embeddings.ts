import { CHAT } from "./chat.ts";
import type { Http } from "./http.ts";
import type { Embeddings, EmbeddingsRequest } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

export class EmbeddingsResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A vector for each text, in their order. */
  async create(body: EmbeddingsRequest, options?: CallOptions): Promise<Embeddings> {
    const asked = { body: { ...body, encoding_format: "float" as const } };
    // Floats were asked for, so that no vector is base64.
    return (await this.#http.call("post", "/embeddings", asked, options, CHAT)) as Embeddings;
  }
}
