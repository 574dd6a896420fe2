import type { ServerResponse } from "node:http";
import type { Identity } from "../../accounts/account-service.ts";

/** Streams that are open, by the key or session that opened them: they end with it. */
export class CallerStreams {
  /** Callers with at least one. */
  readonly #open = new Map<string, Set<ServerResponse>>();

  add(identity: Identity, response: ServerResponse): void {
    if (response.destroyed) return;
    const caller = callerOf(identity);
    const responses = this.#open.get(caller) ?? new Set();
    this.#open.set(caller, responses.add(response));
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0 && this.#open.get(caller) === responses) this.#open.delete(caller);
    });
  }

  /** Cuts every stream of the caller off: who comes back is told 401. No event says so, as the job has not ended. */
  end(caller: string): void {
    for (const response of this.#open.get(caller) ?? []) response.destroy();
  }
}

/** Names a key or a session among all. */
export function callerOf(identity: Identity): string {
  return identity.kind === "key" ? identity.keyId : identity.tokenHash;
}
