import type { Clock } from "../../shared/clock.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { AccountEvents } from "../events/account-events.ts";
import type { Journal } from "../events/journal.ts";
import { toldOf, type EventNews, type ToldEvents, type WantedEvents } from "./event-messages.ts";

export interface EventSourceDeps {
  readonly events: Pick<AccountEvents, "selfId" | "journalOf">;
  readonly bus: Pick<Bus, "publish" | "answer">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** A follower says each second what it wants. One that is silent for this long gets nothing more. */
const SILENT_MS = 5_000;
/** Keeps messages below NATS' 1 MB: a change takes some 300 bytes. What does not fit follows a second later. */
const MAX_CHANGES = 2_000;
const MAX_ACCOUNTS = 500;

interface Wanted {
  heardMs: number;
  /** Of the last change that was sent. */
  seq: number;
}

interface Follower {
  heardMs: number;
  /** By account. */
  readonly wanted: Map<string, Wanted>;
}

/** Changes of this coordinator, for the others that have listeners. */
export class EventSource {
  readonly #deps: EventSourceDeps;
  readonly #followers = new Map<string, Follower>();
  readonly #stop: Unsubscribe;

  constructor(deps: EventSourceDeps) {
    this.#deps = deps;
    this.#stop = deps.bus.answer(`${deps.events.selfId}.events`, async (message) =>
      this.#answer(message as WantedEvents),
    );
  }

  /** Sends followers what the journals of these accounts have new. */
  tell(accountIds: ReadonlySet<string>): void {
    const silentMs = this.#silentMs();
    for (const [id, { heardMs, wanted }] of this.#followers) {
      if (heardMs < silentMs) this.#followers.delete(id);
      else this.#send(id, wanted, accountIds);
    }
  }

  close(): void {
    this.#stop();
    this.#followers.clear();
  }

  #send(followerId: string, wanted: ReadonlyMap<string, Wanted>, accountIds: ReadonlySet<string>): void {
    const accounts: ToldEvents[] = [];
    let changes = 0;
    for (const accountId of accountIds) {
      const account = wanted.get(accountId);
      if (account === undefined) continue;
      const told = this.#told(this.#deps.events.journalOf(accountId), accountId, account.seq);
      changes += told[3]?.length ?? 0;
      // The follower finds the gap when it asks.
      if (changes > MAX_CHANGES) break;
      account.seq = told[2];
      accounts.push(told);
    }
    if (accounts.length > 0) this.#deps.bus.publish(`events.${followerId}`, this.#news(accounts));
  }

  #answer({ follower: id, accounts }: WantedEvents): EventNews {
    const { wanted } = this.#heard(id);
    const heardMs = this.#deps.clock.monotonicMs();
    const all: ToldEvents[] = [];
    let changes = 0;
    for (const [accountId, after] of accounts.slice(0, MAX_ACCOUNTS)) {
      const journal = this.#deps.events.journalOf(accountId);
      const told = this.#told(journal, accountId, after ?? this.#seqOf(journal));
      changes += told[3]?.length ?? 0;
      if (changes > MAX_CHANGES) break;
      wanted.set(accountId, { heardMs, seq: told[2] });
      all.push(told);
    }
    return this.#news(all);
  }

  /** The follower has asked. What it asks for no more is forgotten. */
  #heard(id: string): Follower {
    const heardMs = this.#deps.clock.monotonicMs();
    const follower = this.#followers.get(id) ?? { heardMs, wanted: new Map<string, Wanted>() };
    follower.heardMs = heardMs;
    this.#followers.set(id, follower);
    const silentMs = this.#silentMs();
    for (const [accountId, account] of follower.wanted) {
      if (account.heardMs < silentMs) follower.wanted.delete(accountId);
    }
    return follower;
  }

  #silentMs(): number {
    return this.#deps.clock.monotonicMs() - SILENT_MS;
  }

  #told(journal: Journal, accountId: string, after: number): ToldEvents {
    const { selfId } = this.#deps.events;
    return toldOf(accountId, after, this.#seqOf(journal), journal.since(selfId, after));
  }

  #seqOf(journal: Journal): number {
    return journal.seqOf(this.#deps.events.selfId) ?? 0;
  }

  #news(accounts: readonly ToldEvents[]): EventNews {
    return { from: this.#deps.events.selfId, accounts };
  }
}
