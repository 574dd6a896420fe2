import type { Http } from "../http.ts";
import type { SubmitOptions } from "./jobs.ts";
import { Pages } from "../pages.ts";
import { randomKey } from "../random-key.ts";
import type {
  AccountLimits,
  KnownAccount,
  KnownAccountDetail,
  KnownAccountFilter,
  SetAccountLimits,
} from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface GrantOptions extends SubmitOptions {
  /** Note in the account's ledger. Required to take credits back. */
  readonly note?: string;
}

/** Accounts, for operators. */
export class OperatorAccounts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists accounts, newest first. */
  list(filter: KnownAccountFilter = {}, options?: CallOptions): Pages<KnownAccount> {
    const { pageSize: limit = 100, search, role, suspended } = filter;
    const text = suspended === undefined ? undefined : suspended ? ("true" as const) : ("false" as const);
    const load = (offset: number) => {
      const query = { limit, offset, search, role, suspended: text };
      return this.#http.call("get", "/operator/accounts", { query }, options);
    };
    return new Pages(load, ({ id }) => id);
  }

  async get(id: string, options?: CallOptions): Promise<KnownAccountDetail> {
    return (await this.#http.call("get", "/operator/accounts/{id}", { path: { id } }, options)).data;
  }

  /** Sets limits. Null restores a default. */
  async setLimits(id: string, limits: SetAccountLimits, options?: CallOptions): Promise<AccountLimits> {
    const parts = { path: { id }, body: limits };
    return (await this.#http.call("patch", "/operator/accounts/{id}/limits", parts, options)).data;
  }

  /**
   * Grants credits and resolves with the account's balance. A negative number takes credits back, and requires a note
   * that the account sees. The call is retried after a broken connection, and a repeat does not grant the credits
   * again.
   */
  async grant(id: string, credits: number, { idempotencyKey, note, ...options }: GrantOptions = {}): Promise<number> {
    const body = note === undefined ? { credits } : { credits, note };
    const parts = { path: { id }, body };
    const traits = { isIdempotent: true, headers: { "idempotency-key": idempotencyKey ?? randomKey() } };
    return (await this.#http.call("post", "/operator/accounts/{id}/grants", parts, options, traits)).data.credits;
  }

  /**
   * Suspends an account. `reason` is shown to its owner. Its streams, jobs and Island sessions end everywhere within a
   * second.
   */
  async suspend(id: string, reason: string, options?: CallOptions): Promise<KnownAccountDetail> {
    const parts = { path: { id }, body: { reason } };
    return (await this.#http.call("post", "/operator/accounts/{id}/suspension", parts, options)).data;
  }

  async reinstate(id: string, options?: CallOptions): Promise<KnownAccountDetail> {
    return (await this.#http.call("delete", "/operator/accounts/{id}/suspension", { path: { id } }, options)).data;
  }
}
