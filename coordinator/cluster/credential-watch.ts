import type { Clock, Timer } from "../../shared/clock.ts";
import type { CredentialNews, CredentialUser } from "../accounts/known-callers.ts";
import { ENDS_KEPT_MS, type CredentialChanges } from "../store/accounts/credential-changes.ts";
import { M } from "./messages.ts";
import type { Peers } from "./peers.ts";

/** Finds changes whose message was lost, and those by the command line, which has no bus. */
const POLL_MS = 500;
/** What was read is true for so long: a revoked credential is refused everywhere within a second. */
const MAX_AGE_MS = 1_000;

/** Who has not read storage for so long asks for all that is open: what ended since may be forgotten there. */
const MAX_GAP_MS = ENDS_KEPT_MS / 2;
/** Most credentials that are asked for at once. */
const MAX_ASKED = 1_000;

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
  readonly #store: CredentialChanges;
  readonly #peers: Pick<Peers, "tell">;
  readonly #clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly #stop: () => void;
  readonly #users = new Set<CredentialUser>();
  /** Changes by this coordinator. */
  #changes = 0;
  #reading: Reading | null = null;
  /** Readings begun, and the last of them whose answer counts. */
  #begun = 0;
  #accepted = 0;
  #revision: number | null = null;
  #readAtMs = -Infinity;
  /** When that was by the clock of storage. */
  #storedAtMs: number | null = null;
  #timer: Timer;
  #isClosed = false;

  constructor(
    store: CredentialChanges,
    peers: Pick<Peers, "tell" | "hear">,
    clock: Pick<Clock, "monotonicMs" | "schedule">,
  ) {
    this.#store = store;
    this.#peers = peers;
    this.#clock = clock;
    this.#stop = peers.hear(M.credentials, () => {
      // What is being read may be older than the change.
      this.#reading = null;
      this.#readSoon();
    });
    this.#timer = this.#pollLater();
  }

  revision(): number | Promise<number> {
    const isFresh = this.#clock.monotonicMs() - this.#readAtMs < MAX_AGE_MS;
    return isFresh && this.#revision !== null ? this.#revision : this.#read();
  }

  changed(): void {
    this.#changes += 1;
    this.#readAtMs = -Infinity;
    this.#peers.tell(M.credentials, null);
    this.#readSoon();
  }

  /** Tells `user` of each credential that has ended. */
  serve(user: CredentialUser): void {
    this.#users.add(user);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
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
    this.#begun += 1;
    const turn = this.#begun;
    const beganMs = this.#clock.monotonicMs();
    const { revision, ended, atMs } = await this.#store.since(this.#revision);
    for (const credential of ended) this.#end(credential);
    if (this.#storedAtMs !== null && atMs - this.#storedAtMs > MAX_GAP_MS) await this.#endForgotten();
    // An older reading that took longer says what was true before.
    if (turn < this.#accepted) return revision;
    this.#accepted = turn;
    this.#revision = revision;
    this.#storedAtMs = atMs;
    if (changes === this.#changes) this.#readAtMs = beganMs;
    return revision;
  }

  /** Ends what is open with credentials whose end storage does not tell any more. */
  async #endForgotten(): Promise<void> {
    const open = [...new Set([...this.#users].flatMap((user) => [...user.open()]))];
    for (let from = 0; from < open.length; from += MAX_ASKED) {
      const ended = await this.#store.endedOf(open.slice(from, from + MAX_ASKED));
      for (const credential of ended) this.#end(credential);
    }
  }

  #end(credential: string): void {
    for (const user of this.#users) user.end(credential);
  }

  /** Whoever needs the revision meanwhile gets the error of a failed reading. */
  #readSoon(): void {
    if (!this.#isClosed) this.#read().catch(() => undefined);
  }

  #pollLater(): Timer {
    return this.#clock.schedule(POLL_MS, () => {
      this.#readSoon();
      this.#timer = this.#pollLater();
    });
  }
}
