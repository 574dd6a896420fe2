import type { Clock, Timer } from "../../shared/clock.ts";
import { WaitingChanges, type Change } from "./change.ts";

/** Time for which changes are gathered, so that several changes of an entity are sent as one. */
export const GATHER_MS = 125;
/** Minimum interval of messages about Islands: each one reads storage and asks other coordinators. */
const ISLANDS_MS = 1_000;
/** Minimum interval of resets: clients reload their lists after each. */
const FLOOD_MS = 2_000;

/** Receives changes in order. Null is a reset: the client must reload, because changes may be missing. */
type ChangeListener = (changes: readonly Change[] | null) => void;

/** Changes of one kind that wait until their pause ends. */
interface Lane {
  readonly waiting: WaitingChanges;
  readonly pauseMs: number;
  fromMs: number;
}

interface Account {
  /** Waiting changes: of Islands, and all others. */
  readonly lanes: readonly [islands: Lane, others: Lane];
  /** Listeners of clients of this coordinator, which also receive changes that other coordinators send. */
  readonly clients: Set<ChangeListener>;
  /** Listeners that send this coordinator's changes to others. */
  readonly peers: Set<ChangeListener>;
  /** Resolves when other coordinators send their changes for {@link clients}. */
  followed: Promise<void>;
}

export type AccountEvents = ReturnType<typeof accountEvents>;

/** Distributes changes to the listeners of accounts. For an account without listeners a change costs one map lookup. */
export function accountEvents(clock: Pick<Clock, "monotonicMs" | "schedule">) {
  const accounts = new Map<string, Account>();
  const due = new Set<string>();
  const closing = new AbortController();
  let gathering: Timer | null = null;

  const accountOf = (accountId: string): Account => {
    const lane = (pauseMs: number): Lane => ({ waiting: new WaitingChanges(), pauseMs, fromMs: -Infinity });
    const account: Account = accounts.get(accountId) ?? {
      lanes: [lane(ISLANDS_MS), lane(0)],
      clients: new Set(),
      peers: new Set(),
      followed: Promise.resolve(),
    };
    accounts.set(accountId, account);
    return account;
  };

  const add = (accountId: string, listeners: Set<ChangeListener>, listener: ChangeListener): (() => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      const account = accounts.get(accountId);
      if (account?.clients.size === 0 && account.peers.size === 0) accounts.delete(accountId);
    };
  };

  const gather = (accountId: string): void => {
    if (closing.signal.aborted) return;
    due.add(accountId);
    gathering ??= clock.schedule(GATHER_MS, () => {
      gathering = null;
      const dueNow = [...due];
      due.clear();
      for (const dueId of dueNow) send(dueId);
    });
  };

  const send = (accountId: string): void => {
    const nowMs = clock.monotonicMs();
    const account = accounts.get(accountId);
    if (account === undefined) return;
    for (const lane of account.lanes) {
      if (lane.waiting.isEmpty) continue;
      if (nowMs < lane.fromMs) {
        gather(accountId);
        continue;
      }
      const changes = lane.waiting.take();
      lane.fromMs = nowMs + (changes === null ? FLOOD_MS : lane.pauseMs);
      for (const listener of [...account.clients, ...account.peers]) listener(changes);
    }
  };

  const note = (accountId: string, change: Change): void => {
    const account = accounts.get(accountId);
    if (account === undefined) return;
    account.lanes[change.type === "island" ? 0 : 1].waiting.add(change);
    gather(accountId);
  };

  const arrive = (accountId: string, changes: readonly Change[] | null): void => {
    for (const listener of accounts.get(accountId)?.clients ?? []) listener(changes);
  };

  const events = {
    note,
    arrive,
    /** Subscribes to an account's changes at other coordinators. Resolves when they send changes, or at a timeout. */
    follow: (_accountId: string): Promise<void> => Promise.resolve(),
    closed: closing.signal,
    get hasListeners(): boolean {
      return accounts.size > 0;
    },
    isWatched: (accountId: string): boolean => accounts.has(accountId),
    /** Adds a change of the account itself, not of its jobs, Islands or balance. */
    noteAccount: (accountId: string): void => note(accountId, { type: "account" }),
    /** Removes a waiting change of a job that another coordinator now reports. */
    dropJob(accountId: string, jobId: string): void {
      accounts.get(accountId)?.lanes[1].waiting.removeJob(jobId);
    },
    /** Adds a listener of a client. `ready` resolves when the listener gets all later changes. */
    open(accountId: string, listener: ChangeListener): { readonly ready: Promise<void>; readonly close: () => void } {
      const account = accountOf(accountId);
      const isFirst = account.clients.size === 0;
      const close = add(accountId, account.clients, listener);
      if (isFirst) account.followed = events.follow(accountId);
      return { ready: account.followed, close };
    },
    openForPeer: (accountId: string, listener: ChangeListener): (() => void) =>
      add(accountId, accountOf(accountId).peers, listener),
    get followedIds(): string[] {
      return [...accounts].filter(([, { clients }]) => clients.size > 0).map(([accountId]) => accountId);
    },
    /** Sends a reset to all clients: changes of other coordinators may be lost. */
    resetAll(): void {
      for (const accountId of accounts.keys()) arrive(accountId, null);
    },
    close(): void {
      closing.abort();
      gathering?.cancel();
      for (const accountId of accounts.keys()) arrive(accountId, []);
    },
  };
  return events;
}
