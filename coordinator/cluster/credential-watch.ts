import { every, type LoopEnv } from "../../shared/async/every.ts";
import type { Clock } from "../../shared/clock.ts";
import type { CredentialRevisionSource, CredentialUser } from "../accounts/known-callers.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import { ENDS_KEPT_MS, type CredentialChanges } from "../store/accounts/credential-changes.ts";
import { MESSAGES } from "./messages.ts";
import type { Peers } from "./peers.ts";

/** Poll interval, for changes by the command line and changes whose bus message was lost. */
const POLL_MS = 500;
/** Maximum age of the latest reading. A revoked credential is therefore refused everywhere within a second. */
const MAX_AGE_MS = 1_000;
/**
 * Maximum gap between readings. After a longer one, all credentials are checked: storage may have forgotten changes.
 */
const MAX_GAP_MS = ENDS_KEPT_MS / 2;
const MAX_CREDENTIALS_PER_QUERY = 1_000;

/** A query of the revision in storage, which every change of a credential increases. */
interface Reading {
  /** Number of changes by this coordinator that the reading includes. */
  readonly changes: number;
  readonly revision: Promise<number>;
}

export interface CredentialWatch extends CredentialRevisionSource {
  /** Registers `user`, whose `end` is called for each ended credential. */
  serve(user: CredentialUser): void;
  close(): void;
}

/** Watches credentials in storage that only this coordinator and the command line use. */
export function unsharedCredentials(
  accounts: Pick<AccountStore, "credentialsRevision" | "endedOf">,
  { clock, log }: Pick<LoopEnv, "clock" | "log">,
): CredentialWatch {
  const users = new Set<CredentialUser>();
  const stop = new AbortController();
  let checked: number | null = null;
  /** After the first check of a revision, a session may open with a credential that was looked up before the check. */
  let isCheckedTwice = false;
  const check = async (): Promise<void> => {
    const revision = await accounts.credentialsRevision();
    if (revision === checked && isCheckedTwice) return;
    await endEnded(users, accounts);
    isCheckedTwice = revision === checked;
    checked = revision;
  };
  return {
    revision: () => accounts.credentialsRevision(),
    changed: () => undefined,
    serve(user) {
      if (users.size === 0) every({ clock, log, stop: stop.signal }, MAX_AGE_MS, "read which credentials ended", check);
      users.add(user);
    },
    close: () => stop.abort(),
  };
}

function end(users: ReadonlySet<CredentialUser>, credentials: readonly string[]): void {
  for (const credential of credentials) for (const user of users) user.end(credential);
}

async function endEnded(users: ReadonlySet<CredentialUser>, accounts: Pick<AccountStore, "endedOf">): Promise<void> {
  const open = [...new Set([...users].flatMap((user) => [...user.open()]))];
  for (let from = 0; from < open.length; from += MAX_CREDENTIALS_PER_QUERY) {
    end(users, await accounts.endedOf(open.slice(from, from + MAX_CREDENTIALS_PER_QUERY)));
  }
}

/**
 * Watches changes of credentials and limits by all coordinators and the command line. While storage cannot be read,
 * callers get the error: no request is authorized by data older than a second.
 */
export function watchCredentials(
  store: CredentialChanges,
  accounts: Pick<AccountStore, "endedOf">,
  peers: Peers,
  clock: Clock,
): CredentialWatch {
  const users = new Set<CredentialUser>();
  /** Number of changes that this coordinator made. */
  let changes = 0;
  let reading: Reading | null = null;
  /** Numbers of the latest reading, and of the latest reading whose result was used. */
  let begun = 0;
  let accepted = 0;
  /** The newest revision; null before the first reading. */
  let revision: number | null = null;
  let readAtMs = -Infinity;
  /** Time of the latest reading that was used, by the clock of storage. */
  let storedAtMs: number | null = null;
  let isClosed = false;
  const stop = peers.onBroadcast(MESSAGES.credentials, () => {
    reading = null;
    readSoon();
  });
  let timer = clock.schedule(POLL_MS, poll);

  function poll(): void {
    readSoon();
    timer = clock.schedule(POLL_MS, poll);
  }

  /** Reads the revision. Concurrent callers share a reading, unless it started before a change by this coordinator. */
  function read(): Promise<number> {
    if (reading?.changes === changes) return reading.revision;
    const own: Reading = { changes, revision: readNow(changes) };
    reading = own;
    const isDone = (): void => {
      if (reading === own) reading = null;
    };
    own.revision.then(isDone, isDone);
    return own.revision;
  }

  async function readNow(seenChanges: number): Promise<number> {
    begun += 1;
    const round = begun;
    const beganMs = clock.monotonicMs();
    const { revision: newest, ended, atMs } = await store.since(revision);
    end(users, ended);
    // The first reading returns no ended credentials, and after a gap storage may have forgotten some of them.
    if (storedAtMs === null || atMs - storedAtMs > MAX_GAP_MS) await endEnded(users, accounts);
    // Ignore an older reading that took longer than a newer one.
    if (round < accepted) return newest;
    accepted = round;
    revision = newest;
    storedAtMs = atMs;
    if (seenChanges === changes) readAtMs = beganMs;
    return newest;
  }

  /** Reads the revision in the background. An error is left to the next caller. */
  function readSoon(): void {
    if (!isClosed) read().catch(() => undefined);
  }

  return {
    revision() {
      const isFresh = clock.monotonicMs() - readAtMs < MAX_AGE_MS;
      return isFresh && revision !== null ? revision : read();
    },
    changed() {
      changes += 1;
      readAtMs = -Infinity;
      peers.broadcast(MESSAGES.credentials, null);
      readSoon();
    },
    serve: (user) => void users.add(user),
    close() {
      isClosed = true;
      stop();
      timer.cancel();
    },
  };
}
