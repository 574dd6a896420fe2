import type { Http } from "../http.ts";
import type { Credentials, EmailProof, ResetPassword, StartedSession } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** Registration, sign-in and passwords, for user interfaces. Programs use API keys. */
export class Auth {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Creates an account and starts a session. Returns null if the address must be verified by e-mail first: see `verify`. */
  async register(credentials: Credentials, options?: CallOptions): Promise<StartedSession | null> {
    const { data } = await this.#http.call("post", "/auth/register", { body: credentials }, options);
    return "accepted" in data ? null : data;
  }

  /** Creates the account whose address the mailed token verifies. */
  async verify(proof: EmailProof, options?: CallOptions): Promise<StartedSession> {
    return (await this.#http.call("post", "/auth/verify", { body: proof }, options)).data;
  }

  /** Starts a session. With `session: "cookie"` the client uses it; otherwise the response has its `token`. */
  async signIn(credentials: Credentials, options?: CallOptions): Promise<StartedSession> {
    return (await this.#http.call("post", "/auth/login", { body: credentials }, options)).data;
  }

  /** Ends the client's session. */
  async signOut(options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/logout", {}, options);
  }

  /** Mails a token to reset the password if the address has an account. */
  async forgotPassword(email: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/password/forgot", { body: { email } }, options);
  }

  /** Sets a new password with a reset token. Ends all sessions of the account. */
  async resetPassword(reset: ResetPassword, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/auth/password/reset", { body: reset }, options);
  }
}
