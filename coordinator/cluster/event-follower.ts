import type { Clock, Timer } from "../../shared/clock.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { AccountEvents } from "../events/account-events.ts";
import type { Journal } from "../events/journal.ts";
import type { Position } from "../events/position.ts";
import { changesIn, type EventNews, type ToldEvents, type WantedEvents } from "./event-messages.ts";
import type { Members } from "./members.ts";

export interface EventFollowerDeps {
  readonly events: Pick<AccountEvents, "selfId" | "arrived">;
  readonly bus: Pick<Bus, "request" | "subscribe">;
  readonly members: Pick<Members, "self" | "living" | "onChange">;
  readonly clock: Pick<Clock, "schedule">;
}

/** All followed accounts are asked for again: that finds changes whose message was lost. */
const RENEW_MS = 1_000;
/** A client waits for the first answers. */
const MAX_WAIT_MS = 500;
/** Of one question. */
const MAX_ACCOUNTS = 500;

interface Followed {
  readonly journal: Journal;
  /** The first answers have come, or did not. What begins later has a gap before it. */
  opened: Promise<void>;
  isOpen: boolean;
}

/**
 * Brings changes of other coordinators to the journals of accounts that somebody listens to here. Numbers show what was lost; where that is
 * not known any more, and where a coordinator came or went, the journal's readers hear that they may have missed something.
 */
export class EventFollower {
  readonly #deps: EventFollowerDeps;
  readonly #followed = new Map<string, Followed>();
  readonly #stops: readonly Unsubscribe[];
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(deps: EventFollowerDeps) {
    const { bus, members, events } = deps;
    this.#deps = deps;
    this.#stops = [
      bus.subscribe(`events.${events.selfId}`, (message) => this.#take(message as EventNews)),
      members.onChange(() => this.#notePeers()),
    ];
  }

  follow(accountId: string, journal: Journal, after: Position | null): Promise<void> {
    const known = this.#followed.get(accountId);
    if (known !== undefined) return known.opened;
    const followed: Followed = { journal, opened: Promise.resolve(), isOpen: false };
    this.#followed.set(accountId, followed);
    // Each goes on after what the reader has of it.
    for (const id of this.#others()) {
      const seq = after?.get(id);
      if (seq !== undefined) journal.setSource(id, seq);
    }
    // Those that did not answer by then tell nothing yet.
    followed.opened = this.#ask([accountId]).then(() => {
      followed.isOpen = true;
    });
    if (!this.#isClosed) this.#timer ??= this.#renewLater();
    return followed.opened;
  }

  unfollow(accountId: string): void {
    const followed = this.#followed.get(accountId);
    if (followed === undefined) return;
    this.#followed.delete(accountId);
    for (const source of followed.journal.sources) {
      if (source !== this.#deps.events.selfId) followed.journal.dropSource(source);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const stop of this.#stops) stop();
  }

  /** Asks all others for what these accounts are missing. */
  async #ask(accountIds: readonly string[]): Promise<void> {
    const { bus, events } = this.#deps;
    const asked = this.#others().flatMap((id) =>
      inParts(accountIds).map(async (part) => {
        const accounts = part.map((accountId) => {
          return [accountId, this.#followed.get(accountId)?.journal.seqOf(id) ?? null] as const;
        });
        const wanted: WantedEvents = { follower: events.selfId, accounts };
        // One that does not answer, as it is gone or of an earlier version, is asked again.
        const news = await bus.request(`${id}.events`, wanted, MAX_WAIT_MS).catch(() => null);
        if (news !== null) this.#take(news as EventNews);
      }),
    );
    await Promise.all(asked);
  }

  #take({ from, accounts }: EventNews): void {
    if (this.#isClosed || !this.#others().includes(from)) return;
    for (const told of accounts) {
      const followed = this.#followed.get(told[0]);
      if (followed !== undefined) this.#add(followed, from, told);
    }
  }

  #add({ journal, isOpen }: Followed, from: string, told: ToldEvents): void {
    const [accountId, after, upTo, changes] = told;
    const known = journal.seqOf(from);
    if (known === undefined || changes === null) {
      // What it told before, or what happened there before it was asked, is not known.
      journal.setSource(from, upTo);
      if (isOpen || known !== undefined) journal.reset();
    } else {
      // A message is missing: asking again brings all since then.
      if (after > known) return;
      for (const [seq, change] of changesIn(told)) journal.add(from, seq, change);
      journal.catchUp(from, upTo);
    }
    this.#deps.events.arrived(accountId);
  }

  #notePeers(): void {
    const others = this.#others();
    for (const [accountId, { journal }] of this.#followed) {
      const gone = [...journal.sources].filter((id) => id !== this.#deps.events.selfId && !others.includes(id));
      if (gone.length === 0) continue;
      for (const id of gone) journal.dropSource(id);
      journal.reset();
      this.#deps.events.arrived(accountId);
    }
    if (!this.#isClosed && this.#followed.size > 0) void this.#ask([...this.#followed.keys()]);
  }

  #renewLater(): Timer {
    return this.#deps.clock.schedule(RENEW_MS, () => {
      this.#timer = this.#followed.size === 0 ? null : this.#renewLater();
      if (this.#followed.size > 0) void this.#ask([...this.#followed.keys()]);
    });
  }

  #others(): string[] {
    const { members } = this.#deps;
    return members.living.filter(({ id }) => id !== members.self.id).map(({ id }) => id);
  }
}

function inParts(ids: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let start = 0; start < ids.length; start += MAX_ACCOUNTS) parts.push(ids.slice(start, start + MAX_ACCOUNTS));
  return parts;
}
