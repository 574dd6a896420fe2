import type { ServerResponse } from "node:http";
import type { Identity } from "../../accounts/identity.ts";

/** The open streams of each credential (API key or session), which end when the credential does. */
export class CredentialStreams {
  /** By credential; none is empty. */
  readonly #open = new Map<string, Set<ServerResponse>>();
  /** Accounts of the credentials above. */
  readonly #accounts = new Map<string, string>();

  add(identity: Identity, response: ServerResponse): void {
    if (response.destroyed) return;
    const credential = credentialIdOf(identity);
    const responses = this.#open.get(credential) ?? new Set();
    this.#open.set(credential, responses.add(response));
    this.#accounts.set(credential, identity.accountId);
    response.once("close", () => {
      responses.delete(response);
      if (responses.size > 0 || this.#open.get(credential) !== responses) return;
      this.#open.delete(credential);
      this.#accounts.delete(credential);
    });
  }

  credentials(): Iterable<string> {
    return this.#open.keys();
  }

  /** Cuts the credential's streams without an event, because the job has not ended. A client that reconnects gets 401. */
  close(credential: string): void {
    for (const response of this.#open.get(credential) ?? []) response.destroy();
  }

  /** As {@link close}, for all credentials of these accounts. */
  closeAccounts(accountIds: ReadonlySet<string>): void {
    for (const [credential, owner] of this.#accounts) if (accountIds.has(owner)) this.close(credential);
  }
}

/** Unique among keys and sessions: the key's id, or the hash of the session's token. */
export function credentialIdOf(identity: Identity): string {
  return identity.kind === "key" ? identity.keyId : identity.tokenHash;
}
