import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CredentialNews } from "../accounts/known-callers.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { CredentialChanges } from "../store/credential-changes.ts";

export interface CredentialWatchDeps {
  readonly changes: CredentialChanges;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly log: Pick<Logger, "warn">;
}

/** Told to all after a change; the message says nothing else. */
const SUBJECT = "credentials";
/** Finds changes whose message was lost, and those by the command line, which has no bus. */
const POLL_MS = 500;
/** What was read is true for so long: a revoked credential is refused everywhere within a second. */
const MAX_AGE_MS = 1_000;

interface Reading {
  /** Changes by this coordinator that it sees. */
  readonly changes: number;
  readonly revision: Promise<number>;
}

/**
 * What other coordinators, and the command line, change of keys, sessions, Island tokens and limits. It reads the revision in storage twice
 * a second, after a change here and when another coordinator tells of one. While storage cannot be read, who asks for the revision gets
 * the error: nobody is let in by what was true more than a second ago.
 */
export class CredentialWatch implements CredentialNews {
  readonly #deps: CredentialWatchDeps;
  readonly #unsubscribe: Unsubscribe;
  readonly #listeners = new Set<(credential: string) => void>();
  /** Changes by this coordinator. */
  #changes = 0;
  #reading: Reading | null = null;
  /** Readings begun, and the last of them whose answer counts. */
  #begun = 0;
  #accepted = 0;
  #revision: number | null = null;
  #readAtMs = -Infinity;
  #timer: Timer;
  #isClosed = false;

  constructor(deps: CredentialWatchDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.bus.subscribe(SUBJECT, () => {
      // What is being read may be older than the change.
      this.#reading = null;
      this.#readSoon();
    });
    this.#timer = this.#pollLater();
  }

  revision(): number | Promise<number> {
    const isFresh = this.#deps.clock.monotonicMs() - this.#readAtMs < MAX_AGE_MS;
    return isFresh && this.#revision !== null ? this.#revision : this.#read();
  }

  changed(): void {
    this.#changes += 1;
    this.#readAtMs = -Infinity;
    this.#deps.bus.publish(SUBJECT, {});
    this.#readSoon();
  }

  /** Calls `listener` with each credential that has ended: the id of a key or an Island token, or the hash of a session's token. */
  onEnd(listener: (credential: string) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#timer.cancel();
  }

  /** Those who ask at the same time share a reading, but for one that began before a change here. */
  #read(): Promise<number> {
    if (this.#reading?.changes !== this.#changes) {
      const reading: Reading = { changes: this.#changes, revision: this.#readNow(this.#changes) };
      this.#reading = reading;
      const isDone = (): void => {
        if (this.#reading === reading) this.#reading = null;
      };
      reading.revision.then(isDone, isDone);
    }
    return this.#reading.revision;
  }

  async #readNow(changes: number): Promise<number> {
    const { clock, changes: store } = this.#deps;
    this.#begun += 1;
    const turn = this.#begun;
    const beganMs = clock.monotonicMs();
    const { revision, ended } = await store.since(this.#revision);
    for (const credential of ended) for (const listener of this.#listeners) listener(credential);
    // An older reading that took longer says what was true before.
    if (turn < this.#accepted) return revision;
    this.#accepted = turn;
    this.#revision = revision;
    if (changes === this.#changes) this.#readAtMs = beganMs;
    return revision;
  }

  /** Whoever needs the revision meanwhile gets the error of a failed reading. */
  #readSoon(): void {
    if (!this.#isClosed) this.#read().catch(() => undefined);
  }

  #pollLater(): Timer {
    return this.#deps.clock.schedule(POLL_MS, () => {
      this.#readSoon();
      this.#timer = this.#pollLater();
    });
  }
}
