import type { Http } from "../http.ts";
import { Pages } from "../pages.ts";
import type {
  Account,
  ChangeAccount,
  ChangedAccount,
  ChangePassword,
  LedgerLine,
  UsageFilter,
  UsageLine,
  UsagePage,
} from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export class AccountResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Returns the caller's account and its credits. */
  async get(options?: CallOptions): Promise<Account> {
    return (await this.#http.call("get", "/account", {}, options)).data;
  }

  /** Changes the password, the e-mail address or both. Requires a session token. */
  async update(change: ChangeAccount, options?: CallOptions): Promise<ChangedAccount> {
    return (await this.#http.call("patch", "/account", { body: change }, options)).data;
  }

  /** Changes to the new e-mail address with the token that was mailed to it. */
  async confirmEmail(token: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/email", { body: { token } }, options);
  }

  /** Changes the password and ends all other sessions of the account. Requires a session token. */
  async changePassword(passwords: ChangePassword, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/account/password", { body: passwords }, options);
  }

  /** Permanently deletes the account with all inputs and outputs. Requires a session token. */
  async delete(password: string, options?: CallOptions): Promise<void> {
    await this.#http.call("delete", "/account", { body: { password } }, options);
  }

  /** Lists the changes of the account's credits, newest first. */
  ledger({ pageSize: limit = 100 }: { readonly pageSize?: number } = {}, options?: CallOptions): Pages<LedgerLine> {
    const load = (offset: number) => this.#http.call("get", "/account/ledger", { query: { limit, offset } }, options);
    return new Pages(load, ({ id }) => id);
  }

  /** Lists the credits spent and earned by day, newest first. `page()` has the totals in `meta`. */
  usage(
    { pageSize: limit = 100, by, apiKey, ...rest }: UsageFilter & { readonly pageSize?: number } = {},
    options?: CallOptions,
  ): UsagePages {
    const filter = {
      ...rest,
      ...(by === undefined ? {} : { by: by.join(",") }),
      ...(apiKey === undefined ? {} : { api_key: apiKey }),
    };
    const load = (offset: number) =>
      this.#http.call("get", "/account/usage", { query: { ...filter, limit, offset } }, options);
    return new UsagePages(load, (line) => [line.kind, line.day, line.workload_slug, line.api_key_id].join(" "));
  }
}

/** Lines of usage. `meta` of each page contains the totals of all lines. */
export class UsagePages extends Pages<UsageLine> {
  readonly #load: (offset: number) => Promise<UsagePage>;

  constructor(load: (offset: number) => Promise<UsagePage>, idOf: (line: UsageLine) => string) {
    super(load, idOf);
    this.#load = load;
  }

  override page(): Promise<UsagePage> {
    return this.#load(0);
  }
}
