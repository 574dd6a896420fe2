import { deleteOnce } from "./delete-once.ts";
import type { Http } from "./http.ts";
import type { ApiKey, CreatedApiKey, Scope } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

export interface NewApiKey {
  readonly name?: string | undefined;
  /** Default: all scopes. A caller can only grant scopes that it has. */
  readonly scopes?: readonly Scope[] | undefined;
}

export class ApiKeys {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Keys that are not revoked, newest first. */
  async list(options?: CallOptions): Promise<readonly ApiKey[]> {
    return (await this.#http.call("get", "/api-keys", {}, options)).data;
  }

  /** The result's `key` is the secret, which is never shown again. */
  create({ name, scopes }: NewApiKey = {}, options?: CallOptions): Promise<CreatedApiKey> {
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(scopes === undefined ? {} : { scopes: scopes.join(",") }),
    };
    return this.#http.call("post", "/api-keys", { body }, options);
  }

  /** Takes effect at once. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/api-keys/{id}", { path: { id } }, options));
  }
}
