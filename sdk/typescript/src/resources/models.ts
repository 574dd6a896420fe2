import type { Http } from "../http.ts";
import type { Model } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** OpenAI-compatible list of models: Cargos, and the operator's aliases of them. */
export class Models {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(options?: CallOptions): Promise<readonly Model[]> {
    return (await this.#http.call("get", "/models", {}, options)).data;
  }

  get(id: string, options?: CallOptions): Promise<Model> {
    return this.#http.call("get", "/models/{id}", { path: { id } }, options);
  }
}
