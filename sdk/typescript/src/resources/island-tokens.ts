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

  /** Lists tokens that are not revoked, newest first. */
  async list(options?: CallOptions): Promise<readonly IslandToken[]> {
    return (await this.#http.call("get", "/island-tokens", {}, options)).data;
  }

  /** Creates a token. The result's `token` is the secret, which cannot be read again. */
  create(token: NewIslandToken = {}, options?: CallOptions): Promise<CreatedIslandToken> {
    return this.#http.call("post", "/island-tokens", { body: bodyOf(token) }, options);
  }

  /** Creates a code for `island join --code`. It can be used once, within ten minutes. */
  async createPairingCode(token: NewIslandToken = {}, options?: CallOptions): Promise<PairingCode> {
    return (await this.#http.call("post", "/island-tokens/pairing", { body: bodyOf(token) }, options)).data;
  }

  /** Revokes a token and disconnects the Islands that joined with it. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/island-tokens/{id}", { path: { id } }, options));
  }
}

function bodyOf({ name }: NewIslandToken) {
  return name === undefined ? {} : { name };
}
