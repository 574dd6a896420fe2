import { doneBefore } from "./done-before.ts";
import type { Http } from "./http.ts";
import type { ApiKey, CreatedApiKey, Scope } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

export interface NewApiKey {
  readonly name?: string | undefined;
  /** Default: all that the caller has. */
  readonly scopes?: readonly Scope[] | undefined;
}

export class ApiKeys {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Those that are not revoked, newest first. */
  async list(options?: CallOptions): Promise<readonly ApiKey[]> {
    return (await this.#http.call("get", "/api-keys", {}, options)).data;
  }

  /** `key` of the answer is the secret, which is never shown again. */
  create({ name, scopes }: NewApiKey = {}, options?: CallOptions): Promise<CreatedApiKey> {
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(scopes === undefined ? {} : { scopes: scopes.join(",") }),
    };
    return this.#http.call("post", "/api-keys", { body }, options);
  }

  /** Takes effect at once. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await doneBefore(this.#http.call("delete", "/api-keys/{id}", { path: { id } }, options));
  }
}
