import type { ServerResponse } from "node:http";
import type { Identity } from "../../accounts/identity.ts";

/** The open streams of each credential (API key or session), which end when the credential does. */
export class CredentialStreams {
  /** By credential; none is empty. */
  readonly #open = new Map<string, Set<ServerResponse>>();

  add(identity: Identity, response: ServerResponse): void {
    if (response.destroyed) return;
    const credential = credentialIdOf(identity);
    const responses = this.#open.get(credential) ?? new Set();
    this.#open.set(credential, responses.add(response));
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0 && this.#open.get(credential) === responses) this.#open.delete(credential);
    });
  }

  credentials(): Iterable<string> {
    return this.#open.keys();
  }

  /** Cuts the credential's streams without an event, because the job has not ended. A client that reconnects gets 401. */
  close(credential: string): void {
    for (const response of this.#open.get(credential) ?? []) response.destroy();
  }
}

/** Unique among keys and sessions: the key's id, or the hash of the session's token. */
export function credentialIdOf(identity: Identity): string {
  return identity.kind === "key" ? identity.keyId : identity.tokenHash;
}
