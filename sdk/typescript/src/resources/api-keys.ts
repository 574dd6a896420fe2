import { deleteOnce } from "../delete-once.ts";
import type { Http } from "../http.ts";
import type { ApiKey, ChangeApiKey, CreatedApiKey, Scope } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface NewApiKey {
  readonly name?: string | undefined;
  /** Scopes of the key; default: all. A caller can only grant scopes that it has. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Time from which the key is rejected, ISO 8601, UTC. */
  readonly expires_at?: string | null | undefined;
  /** Slugs of the Cargos that the key may run; null or absent for all Cargos. */
  readonly cargos?: readonly string[] | null | undefined;
  /** Limit for the cost of the key's jobs in one calendar month (UTC). */
  readonly credits_per_month?: number | null | undefined;
  /** Trust of the key's jobs that name none; null or absent for `any`. */
  readonly trust?: ChangeApiKey["trust"];
}

export class ApiKeys {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists keys that are not revoked, newest first. */
  async list(options?: CallOptions): Promise<readonly ApiKey[]> {
    return (await this.#http.call("get", "/api-keys", {}, options)).data;
  }

  /** Creates a key. The result's `key` is the secret, which cannot be read again. */
  create(
    { name, scopes, cargos, expires_at, credits_per_month, trust }: NewApiKey = {},
    options?: CallOptions,
  ): Promise<CreatedApiKey> {
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(scopes === undefined ? {} : { scopes: scopes.join(",") }),
      ...(cargos === undefined ? {} : { cargos: cargos && [...cargos] }),
      ...(expires_at === undefined ? {} : { expires_at }),
      ...(credits_per_month === undefined ? {} : { credits_per_month }),
      ...(trust === undefined ? {} : { trust }),
    };
    return this.#http.call("post", "/api-keys", { body }, options);
  }

  /** Changes the name, limits and trust. Omitted members stay; null removes a limit or the trust. */
  async update(id: string, change: ChangeApiKey, options?: CallOptions): Promise<ApiKey> {
    return (await this.#http.call("patch", "/api-keys/{id}", { path: { id }, body: change }, options)).data;
  }

  /** Revokes a key. Takes effect at once. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/api-keys/{id}", { path: { id } }, options));
  }
}
