import { deleteOnce } from "../delete-once.ts";
import type { Http } from "../http.ts";
import type { AccountSession } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** Sessions of the account. Requires a session token. */
export class Sessions {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists sessions, newest first. `current` marks the caller's session. */
  async list(options?: CallOptions): Promise<readonly AccountSession[]> {
    return (await this.#http.call("get", "/sessions", {}, options)).data;
  }

  /** Ends a session. Takes effect at once. */
  async end(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/sessions/{id}", { path: { id } }, options));
  }
}
