import type { Clock, Timer } from "../../shared/clock.ts";
import { WaitingChanges, type Change } from "./change.ts";

/** Changes of one thing in this time are sent as one. */
export const GATHER_MS = 125;
/** Between two messages about Islands: for each, storage is read and other coordinators are asked. */
const ISLANDS_MS = 1_000;
/** Between two resets after floods of changes: for each, clients read their lists. */
const FLOOD_MS = 2_000;

/** Gets changes in order; null (a reset): changes that are not known one by one. */
type ChangeListener = (changes: readonly Change[] | null) => void;

interface Lane {
  readonly waiting: WaitingChanges;
  readonly pauseMs: number;
  /** Changes wait until then, by the monotonic clock. */
  fromMs: number;
}

interface Account {
  /** Changes of Islands, and all others. */
  readonly lanes: readonly [islands: Lane, others: Lane];
  /** Clients here, which also get the changes of other coordinators. */
  readonly clients: Set<ChangeListener>;
  /** Other coordinators. */
  readonly peers: Set<ChangeListener>;
  /** Resolves when the other coordinators send their changes for {@link clients}. */
  followed: Promise<void>;
}

export type AccountEvents = ReturnType<typeof accountEvents>;

/** Changes for accounts that have listeners, here or at another coordinator. For others, a change costs one look into a map. */
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

  /** Takes changes of another coordinator. */
  const arrive = (accountId: string, changes: readonly Change[] | null): void => {
    for (const listener of accounts.get(accountId)?.clients ?? []) listener(changes);
  };

  const events = {
    note,
    arrive,

    /** Has the other coordinators send what changes for an account. Resolves when they do, or did not answer in time. */
    follow: (_accountId: string): Promise<void> => Promise.resolve(),

    /** Aborts when this coordinator stops: clients go to another one, or to its successor. */
    closed: closing.signal,

    get hasListeners(): boolean {
      return accounts.size > 0;
    },

    isWatched: (accountId: string): boolean => accounts.has(accountId),

    /** Something of the account changed that is neither a job nor an Island nor the balance. */
    noteAccount: (accountId: string): void => note(accountId, { type: "account" }),

    /** Another coordinator has the job, and notes its state: an older state must not be sent after that. */
    dropJob(accountId: string, jobId: string): void {
      accounts.get(accountId)?.lanes[1].waiting.removeJob(jobId);
    },

    /** Listens for a client. `ready` resolves when all further changes reach the listener. */
    open(accountId: string, listener: ChangeListener): { readonly ready: Promise<void>; readonly close: () => void } {
      const account = accountOf(accountId);
      const isFirst = account.clients.size === 0;
      const close = add(accountId, account.clients, listener);
      if (isFirst) account.followed = events.follow(accountId);
      return { ready: account.followed, close };
    },

    /** Listens for another coordinator, to what changes at this one. The returned function ends it. */
    openForPeer: (accountId: string, listener: ChangeListener): (() => void) =>
      add(accountId, accountOf(accountId).peers, listener),

    /** Accounts with clients here. */
    get followedIds(): string[] {
      return [...accounts].filter(([, { clients }]) => clients.size > 0).map(([accountId]) => accountId);
    },

    /** Changes of other coordinators may have been lost. */
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
