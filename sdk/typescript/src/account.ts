import type { Http } from "./http.ts";
import { Pages } from "./pages.ts";
import type { Account, ChangePassword, LedgerLine } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

export class AccountResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The caller's account and its credits. */
  async get(options?: CallOptions): Promise<Account> {
    return (await this.#http.call("get", "/account", {}, options)).data;
  }

  /** Needs a session token. All other sessions of the account end. */
  async changePassword(passwords: ChangePassword, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/account/password", { body: passwords }, options);
  }

  /** Deletes the account with all prompts and answers, for good. Needs a session token. */
  async delete(password: string, options?: CallOptions): Promise<void> {
    await this.#http.call("delete", "/account", { body: { password } }, options);
  }

  /** Changes of the credits, newest first. */
  ledger({ pageSize: limit = 100 }: { readonly pageSize?: number } = {}, options?: CallOptions): Pages<LedgerLine> {
    const load = (offset: number) => this.#http.call("get", "/account/ledger", { query: { limit, offset } }, options);
    return new Pages(load, ({ id }) => id);
  }
}
