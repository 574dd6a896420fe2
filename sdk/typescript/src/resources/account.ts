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

  /** The caller's account and its credits. */
  async get(options?: CallOptions): Promise<Account> {
    return (await this.#http.call("get", "/account", {}, options)).data;
  }

  /** Changes the password, the e-mail address or both. Needs a session token. */
  async update(change: ChangeAccount, options?: CallOptions): Promise<ChangedAccount> {
    return (await this.#http.call("patch", "/account", { body: change }, options)).data;
  }

  /** Sets the address that a mailed token proves. */
  async confirmEmail(token: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/email", { body: { token } }, options);
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

  /** What the account spent and earned, by day, newest first. `page()` has the sums of all in `meta`. */
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

/** Lines of usage; each page has the sums of all in `meta`. */
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
