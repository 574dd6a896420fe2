import { deleteOnce } from "../delete-once.ts";
import type { Http } from "../http.ts";
import type { ApiKey, ChangeApiKey, CreatedApiKey, Scope } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface NewApiKey {
  readonly name?: string | undefined;
  /** Default: all scopes. A caller can only grant scopes that it has. */
  readonly scopes?: readonly Scope[] | undefined;
  /** ISO 8601, UTC; the key is refused from then on. */
  readonly expires_at?: string | null | undefined;
  /** Slugs of the Cargos that it may run; null or absent: all. */
  readonly cargos?: readonly string[] | null | undefined;
  /** What its jobs may cost in a calendar month (UTC). */
  readonly credits_per_month?: number | null | undefined;
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
  create(
    { name, scopes, cargos, expires_at, credits_per_month }: NewApiKey = {},
    options?: CallOptions,
  ): Promise<CreatedApiKey> {
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(scopes === undefined ? {} : { scopes: scopes.join(",") }),
      ...(cargos === undefined ? {} : { cargos: cargos && [...cargos] }),
      ...(expires_at === undefined ? {} : { expires_at }),
      ...(credits_per_month === undefined ? {} : { credits_per_month }),
    };
    return this.#http.call("post", "/api-keys", { body }, options);
  }

  /** Changes the name and the limits: what is left out stays, null removes a limit. */
  async update(id: string, change: ChangeApiKey, options?: CallOptions): Promise<ApiKey> {
    return (await this.#http.call("patch", "/api-keys/{id}", { path: { id }, body: change }, options)).data;
  }

  /** Takes effect at once. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/api-keys/{id}", { path: { id } }, options));
  }
}
