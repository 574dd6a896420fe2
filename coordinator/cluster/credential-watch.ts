import { every, type LoopEnv } from "../../shared/async/every.ts";
import type { Clock } from "../../shared/clock.ts";
import type { CredentialRevisionSource, CredentialUser } from "../accounts/known-callers.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
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

export interface CredentialWatch extends CredentialRevisionSource {
  /** Calls `end` of `user` for each credential that has ended. */
  serve(user: CredentialUser): void;
  close(): void;
}

/**
 * For storage that one coordinator has for itself. Each request reads the revision, because the command line may change it. What is open
 * ends within a second.
 */
export function unsharedCredentials(
  accounts: Pick<AccountStore, "credentialsRevision" | "endedOf">,
  { clock, log }: Pick<LoopEnv, "clock" | "log">,
): CredentialWatch {
  const users = new Set<CredentialUser>();
  const stop = new AbortController();
  let checked: number | null = null;
  const check = async (): Promise<void> => {
    const revision = await accounts.credentialsRevision();
    if (revision === checked) return;
    await endEnded(users, accounts);
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

function end(users: ReadonlySet<CredentialUser>, credential: string): void {
  for (const user of users) user.end(credential);
}

/** Asks for each credential with which something is open, and ends what is open with those that have ended. */
async function endEnded(users: ReadonlySet<CredentialUser>, accounts: Pick<AccountStore, "endedOf">): Promise<void> {
  const open = [...new Set([...users].flatMap((user) => [...user.open()]))];
  for (let from = 0; from < open.length; from += MAX_ASKED) {
    for (const credential of await accounts.endedOf(open.slice(from, from + MAX_ASKED))) end(users, credential);
  }
}

/**
 * What other coordinators, and the command line, change of keys, sessions, Island tokens and limits. It reads the revision in storage twice
 * a second, after a change here and when another coordinator tells of one. While storage cannot be read, who asks for the revision gets
 * the error: nobody is let in by what was true more than a second ago.
 */
export function watchCredentials(
  store: CredentialChanges,
  accounts: Pick<AccountStore, "endedOf">,
  peers: Peers,
  clock: Clock,
): CredentialWatch {
  const users = new Set<CredentialUser>();
  /** Changes by this coordinator. */
  let changes = 0;
  let reading: Reading | null = null;
  /** Readings begun, and the last of them whose answer counts. */
  let begun = 0;
  let accepted = 0;
  let revision: number | null = null;
  let readAtMs = -Infinity;
  /** When that was by the clock of storage. */
  let storedAtMs: number | null = null;
  let isClosed = false;
  const stop = peers.hear(M.credentials, () => {
    // What is being read may be older than the change.
    reading = null;
    readSoon();
  });
  let timer = pollLater();

  /** Those who ask at the same time share a reading, but for one that began before a change here. */
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
    for (const credential of ended) end(users, credential);
    // Ends of that long ago may be forgotten.
    if (storedAtMs !== null && atMs - storedAtMs > MAX_GAP_MS) await endEnded(users, accounts);
    // An older reading that took longer says what was true before.
    if (round < accepted) return newest;
    accepted = round;
    revision = newest;
    storedAtMs = atMs;
    if (seenChanges === changes) readAtMs = beganMs;
    return newest;
  }

  /** Whoever needs the revision meanwhile gets the error of a failed reading. */
  function readSoon(): void {
    if (!isClosed) read().catch(() => undefined);
  }

  function pollLater() {
    return clock.schedule(POLL_MS, () => {
      readSoon();
      timer = pollLater();
    });
  }

  return {
    revision() {
      const isFresh = clock.monotonicMs() - readAtMs < MAX_AGE_MS;
      return isFresh && revision !== null ? revision : read();
    },
    changed() {
      changes += 1;
      readAtMs = -Infinity;
      peers.tell(M.credentials, null);
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
