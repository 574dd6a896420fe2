import { deleteOnce } from "../delete-once.ts";
import type { Http } from "../http.ts";
import type { CreatedIslandToken, IslandToken, PairingCode } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

interface NewIslandToken {
  readonly name?: string | undefined;
}

/** Tokens with which Islands join the account. */
export class IslandTokens {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Tokens that are not revoked, newest first. */
  async list(options?: CallOptions): Promise<readonly IslandToken[]> {
    return (await this.#http.call("get", "/island-tokens", {}, options)).data;
  }

  /** The result's `token` is the secret, which is never shown again. */
  create(token: NewIslandToken = {}, options?: CallOptions): Promise<CreatedIslandToken> {
    return this.#http.call("post", "/island-tokens", { body: bodyOf(token) }, options);
  }

  /** A code for `island join --code`, valid for ten minutes and once. */
  async createPairingCode(token: NewIslandToken = {}, options?: CallOptions): Promise<PairingCode> {
    return (await this.#http.call("post", "/island-tokens/pairing", { body: bodyOf(token) }, options)).data;
  }

  /** The Islands that joined with the token are sent away. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/island-tokens/{id}", { path: { id } }, options));
  }
}

function bodyOf({ name }: NewIslandToken) {
  return name === undefined ? {} : { name };
}
