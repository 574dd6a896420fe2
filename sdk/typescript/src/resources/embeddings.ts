import { CHAT } from "./chat.ts";
import type { Http } from "../http.ts";
import type { Embeddings, EmbeddingsRequest, Reranking, RerankRequest } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export class EmbeddingsResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Returns one vector per text, in the same order. */
  async create(body: EmbeddingsRequest, options?: CallOptions): Promise<Embeddings> {
    const parts = { body: { ...body, encoding_format: "float" as const } };
    // The request asks for floats, so the vectors are not base64.
    return (await this.#http.call("post", "/embeddings", parts, options, CHAT)) as Embeddings;
  }

  /** Ranks documents by the similarity of their vectors to the query's, best first. */
  rerank(body: RerankRequest, options?: CallOptions): Promise<Reranking> {
    return this.#http.call("post", "/rerank", { body }, options, CHAT);
  }
}
