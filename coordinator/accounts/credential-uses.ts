import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { Identity } from "./identity.ts";
import { KeyUsage } from "./key-usage.ts";

export interface CredentialUsesDeps {
  readonly clock: Clock;
  readonly store: Pick<AccountStore, "touchKey" | "touchSession">;
  readonly log: Pick<Logger, "error">;
}

/** A session is shown to its owner, who does not need more. */
const SESSION_INTERVAL_MS = 60_000;

/** Stores when API keys and sessions were last used. */
export class CredentialUses {
  readonly #keys: KeyUsage;
  readonly #sessions: KeyUsage;

  constructor({ clock, store, log }: CredentialUsesDeps) {
    const onError =
      (what: string) =>
      (error: unknown): void =>
        log.error({ err: error }, `Could not store when ${what} was last used`);
    this.#keys = new KeyUsage(clock, (id, atMs) => store.touchKey(id, atMs), onError("an API key"));
    const touchSession = (tokenHash: string, atMs: number): Promise<void> => store.touchSession(tokenHash, atMs);
    this.#sessions = new KeyUsage(clock, touchSession, onError("a session"), SESSION_INTERVAL_MS);
  }

  record(identity: Identity): void {
    if (identity.kind === "key") this.#keys.record(identity.keyId);
    else this.#sessions.record(identity.tokenHash);
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await Promise.all([this.#keys.settled(), this.#sessions.settled()]);
  }
}
