import type { Clock, Timer } from "../../shared/clock.ts";
import { keyOf, type Change } from "./change.ts";
import { EventReader } from "./event-reader.ts";
import { Journal } from "./journal.ts";
import type { Position } from "./position.ts";

export interface AccountEventsDeps {
  /** Of this coordinator, another one after each start. */
  readonly selfId: string;
  readonly clock: Pick<Clock, "monotonicMs" | "now" | "schedule">;
}

/** The other coordinators, of which each tells of what happens there. */
export interface EventPeers {
  /** Has the others tell `journal` of an account's changes, until {@link unfollow}. Resolves when they do, or do not answer. */
  follow(accountId: string, journal: Journal, after: Position | null): Promise<void>;
  unfollow(accountId: string): void;
  /** The journals of these accounts have new changes of this coordinator. */
  tell(accountIds: ReadonlySet<string>): void;
}

/** Changes are gathered for so long, here and where readers are: of what changes again meanwhile, the last state is told. */
export const GATHER_MS = 125;
/** Between two looks at Islands of an account: each reads storage and asks other coordinators. */
const ISLANDS_MS = 1_000;
/** More changes of an account at once are not told one by one: its readers look at their lists. */
const MAX_AT_ONCE = 500;
/** After such a flood, so that they do not do so all the time. */
const FLOOD_MS = 2_000;
/** A client that lost its connection finds what it missed for so long. */
const KEEP_MS = 60_000;
const SWEEP_MS = 15_000;
const LOOK_MS = 1_000;

interface Account {
  readonly journal: Journal;
  /** Changes here that are not in the journal yet, by key. */
  readonly pending: Map<string, Change>;
  /** Told when there may be something to read. */
  readonly readers: Set<() => void>;
  /** Readers that are coming. */
  opening: number;
  usedMs: number;
  /** Before this, by the monotonic clock, changes wait: of Islands, and all. */
  islandsFromMs: number;
  fromMs: number;
}

/**
 * Changes for accounts that somebody listens to, here or at another coordinator. For all other accounts a change costs one look into a map;
 * nothing is stored for any of them.
 */
export class AccountEvents {
  readonly #deps: AccountEventsDeps;
  readonly #accounts = new Map<string, Account>();
  /** Accounts with changes that are not told. */
  readonly #due = new Set<string>();
  #peers: EventPeers | null = null;
  /** Of the last change or new journal of any account. */
  #seq = 0;
  #gathering: Timer | null = null;
  #sweeping: Timer | null = null;
  #look: (() => void) | null = null;
  #looking: Timer | null = null;
  #isClosed = false;

  constructor(deps: AccountEventsDeps) {
    this.#deps = deps;
  }

  get selfId(): string {
    return this.#deps.selfId;
  }

  /** Shares changes with the other coordinators from now on. */
  share(peers: EventPeers): void {
    this.#peers = peers;
  }

  /** Asked before a change is made, so that one that nobody hears of costs nothing. */
  isWatched(accountId: string): boolean {
    return this.#accounts.has(accountId);
  }

  note(accountId: string, change: Change): void {
    const account = this.#accounts.get(accountId);
    if (account === undefined || this.#isClosed) return;
    // More of them are told as one reset.
    if (account.pending.size <= MAX_AT_ONCE) account.pending.set(keyOf(change), change);
    this.#gather(accountId);
  }

  /** Something of the account changed that is neither a job nor an Island nor the balance. */
  noteAccount(accountId: string): void {
    if (this.isWatched(accountId)) this.note(accountId, { type: "account", atMs: this.#deps.clock.now() });
  }

  /** Calls `look` each second while any account is watched. Call it before the first reader comes. */
  whileWatched(look: () => void): void {
    this.#look = look;
  }

  /** `onChange`: called when there is something to take, at most once in {@link GATHER_MS}. `after`: the reader has everything up to there. */
  async open(accountId: string, after: Position | null, onChange: () => void): Promise<EventReader> {
    const account = this.#use(accountId);
    account.opening += 1;
    try {
      await this.#peers?.follow(accountId, account.journal, after);
    } finally {
      account.opening -= 1;
    }
    account.readers.add(onChange);
    return new EventReader(account.journal, after, () => {
      account.readers.delete(onChange);
      this.#leave(accountId, account);
    });
  }

  /** The journal of an account of which another coordinator wants to hear. */
  journalOf(accountId: string): Journal {
    return this.#use(accountId).journal;
  }

  /** Changes of another coordinator have come to the journal of the account. */
  arrived(accountId: string): void {
    if (!this.#isClosed) this.#gather(accountId);
  }

  /** Ends all readers: their clients come back, to another coordinator or to this one's successor. */
  close(): void {
    this.#isClosed = true;
    this.#gathering?.cancel();
    this.#sweeping?.cancel();
    this.#looking?.cancel();
    for (const { journal, readers } of this.#accounts.values()) {
      journal.end();
      for (const onChange of readers) onChange();
    }
  }

  #use(accountId: string): Account {
    const usedMs = this.#deps.clock.monotonicMs();
    const known = this.#accounts.get(accountId);
    if (known !== undefined) {
      known.usedMs = usedMs;
      return known;
    }
    const journal = new Journal();
    // Positions from before it was made are of the past: nobody noted what happened until now.
    this.#seq += 1;
    journal.setSource(this.#deps.selfId, this.#seq);
    if (this.#isClosed) journal.end();
    const times = { usedMs, islandsFromMs: -Infinity, fromMs: -Infinity };
    const account: Account = { journal, pending: new Map(), readers: new Set(), opening: 0, ...times };
    this.#accounts.set(accountId, account);
    if (!this.#isClosed) {
      this.#sweeping ??= this.#sweepLater();
      if (this.#look !== null) this.#looking ??= this.#lookLater(this.#look);
    }
    return account;
  }

  #leave(accountId: string, account: Account): void {
    account.usedMs = this.#deps.clock.monotonicMs();
    if (account.readers.size > 0 || account.opening > 0) return;
    this.#peers?.unfollow(accountId);
  }

  #gather(accountId: string): void {
    this.#due.add(accountId);
    this.#gathering ??= this.#deps.clock.schedule(GATHER_MS, () => {
      this.#gathering = null;
      this.#flush();
    });
  }

  #flush(): void {
    const due = [...this.#due];
    this.#due.clear();
    const told = new Set<string>();
    for (const accountId of due) {
      const account = this.#accounts.get(accountId);
      if (account === undefined) continue;
      if (this.#addPending(account)) told.add(accountId);
      for (const onChange of account.readers) onChange();
      if (account.pending.size > 0) this.#gather(accountId);
    }
    if (told.size > 0) this.#peers?.tell(told);
  }

  /** True if the journal has something new of this coordinator. */
  #addPending(account: Account): boolean {
    const { journal, pending } = account;
    const nowMs = this.#deps.clock.monotonicMs();
    if (pending.size === 0 || nowMs < account.fromMs) return false;
    if (pending.size > MAX_AT_ONCE) {
      pending.clear();
      this.#seq += 1;
      journal.catchUp(this.#deps.selfId, this.#seq);
      journal.reset();
      account.fromMs = nowMs + FLOOD_MS;
      return true;
    }
    const before = this.#seq;
    const mayTellIslands = nowMs >= account.islandsFromMs;
    for (const [key, change] of pending) {
      if (change.type === "island") {
        if (!mayTellIslands) continue;
        account.islandsFromMs = nowMs + ISLANDS_MS;
      }
      pending.delete(key);
      this.#seq += 1;
      journal.add(this.#deps.selfId, this.#seq, change);
    }
    return this.#seq > before;
  }

  #lookLater(look: () => void): Timer {
    return this.#deps.clock.schedule(LOOK_MS, () => {
      this.#looking = this.#accounts.size === 0 ? null : this.#lookLater(look);
      if (this.#looking !== null) look();
    });
  }

  #sweepLater(): Timer {
    return this.#deps.clock.schedule(SWEEP_MS, () => {
      const { clock } = this.#deps;
      const unusedMs = clock.monotonicMs() - KEEP_MS;
      for (const [accountId, account] of this.#accounts) {
        const isIdle = account.readers.size === 0 && account.opening === 0 && account.usedMs < unusedMs;
        if (isIdle) this.#accounts.delete(accountId);
        else account.journal.expire(clock.now() - KEEP_MS);
      }
      this.#sweeping = this.#accounts.size === 0 || this.#isClosed ? null : this.#sweepLater();
    });
  }
}
