import type { Http } from "../http.ts";
import type { Credentials, EmailProof, ResetPassword, StartedSession } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** Signing in and out, for pages where people do that. Programs have API keys. */
export class Auth {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Opens an account and begins a session. Null where a mail must prove the address first: see `verify`. */
  async register(credentials: Credentials, options?: CallOptions): Promise<StartedSession | null> {
    const { data } = await this.#http.call("post", "/auth/register", { body: credentials }, options);
    return "accepted" in data ? null : data;
  }

  /** Opens the account whose address the mailed token proves. */
  async verify(proof: EmailProof, options?: CallOptions): Promise<StartedSession> {
    return (await this.#http.call("post", "/auth/verify", { body: proof }, options)).data;
  }

  /** Begins a session: the client's own where it has `session: "cookie"`, else one whose `token` is in the answer. */
  async signIn(credentials: Credentials, options?: CallOptions): Promise<StartedSession> {
    return (await this.#http.call("post", "/auth/login", { body: credentials }, options)).data;
  }

  /** Ends the session that the client has. */
  async signOut(options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/logout", {}, options);
  }

  /** Has a reset of the password mailed, if the address has an account. */
  async forgotPassword(email: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/password/forgot", { body: { email } }, options);
  }

  /** Sets a new password with the token of a reset. All sessions of the account end. */
  async resetPassword(reset: ResetPassword, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/password/reset", { body: reset }, options);
  }
}
