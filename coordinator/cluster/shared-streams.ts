import type { Clock, Timer } from "../../shared/clock.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import type { ReleaseStream } from "../quotas/caller-quota.ts";
import { StreamQuota } from "../quotas/stream-quota.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import type { Members } from "./members.ts";
import type { QuotaHomes } from "./quota-homes.ts";

/** When a home that did not answer is told again. */
const RETRY_MS = 1_000;
/** Homes are told everything anew so often: one may have taken this coordinator for dead for a while. */
const RETELL_MS = 60_000;

/** To the home of an account: how many of its streams are open at a coordinator. Its part of the subject `<id>.quota`. */
export interface StreamsQuestion {
  readonly kind: "streams";
  readonly accountId: string;
  readonly from: string;
  /** All that are open there. */
  readonly open: number;
  /** Whether there may be one more, and then it counts; null: nobody wants one. */
  readonly limit: number | null;
}

export interface StreamsAnswer {
  readonly granted: boolean;
}

/** What a home knows. */
interface Told {
  readonly homeId: string;
  /** Undefined if its answer was lost. */
  readonly open: number | undefined;
}

/**
 * Open streams of each account, in the network. The home of the account knows how many each coordinator has, and decides about one more.
 * Coordinators tell it numbers, not changes, so that a message that is lost or comes twice does no harm for long.
 */
export class SharedStreams {
  readonly #clock: Pick<Clock, "schedule">;
  readonly #members: Pick<Members, "living">;
  readonly #homes: QuotaHomes;
  readonly #here = new StreamQuota();
  /** As home: open streams at other coordinators, by account and coordinator. None is 0. */
  readonly #elsewhere = new Map<string, Map<string, number>>();
  /** By account. */
  readonly #told = new Map<string, Told>();
  /** The last question about an account; the next one follows it. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #retry: Timer | null = null;
  #retell: Timer;
  #isClosed = false;

  constructor(clock: Pick<Clock, "schedule">, members: Pick<Members, "living">, homes: QuotaHomes) {
    this.#clock = clock;
    this.#members = members;
    this.#homes = homes;
    this.#retell = this.#retellLater();
  }

  /** @throws {RateLimitedError} */
  open(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream> {
    return this.#openHere(accountId, limit) ?? this.#inTurn(accountId, () => this.#openAtHome(accountId, limit));
  }

  /** As home: notes what a coordinator has, and decides about one more. */
  note({ accountId, from, open, limit }: StreamsQuestion): StreamsAnswer {
    this.#setElsewhere(accountId, from, open);
    const granted = limit !== null && this.#here.count(accountId) + this.#countElsewhere(accountId) < limit;
    if (granted) this.#setElsewhere(accountId, from, open + 1);
    return { granted };
  }

  /** The living coordinators, or the ways to them, are others than before. */
  refresh(): void {
    const living = new Set(this.#members.living.map(({ id }) => id));
    for (const [accountId, counts] of this.#elsewhere) {
      const isHome = this.#homes.of(accountId) === this.#homes.selfId;
      for (const id of counts.keys()) if (!isHome || !living.has(id)) counts.delete(id);
      if (counts.size === 0) this.#elsewhere.delete(accountId);
    }
    void this.#tellAll();
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#retell.cancel();
  }

  /** Undefined if the home must be asked. */
  #openHere(accountId: string, limit: number): ReleaseStream | undefined {
    const homeId = this.#homes.of(accountId);
    if (!this.#homes.isInReach(homeId)) return this.#enter(accountId, this.#partOf(limit));
    if (homeId !== this.#homes.selfId) return undefined;
    return this.#enter(accountId, limit - this.#countElsewhere(accountId));
  }

  /**
   * What may be open here while nobody counts for all. A home that died is another one after its lease, and until then its streams go on
   * at the others, perhaps all at one: none is refused for it.
   */
  #partOf(limit: number): number {
    return this.#homes.isCutOff ? this.#homes.partOf(limit) : limit;
  }

  async #openAtHome(accountId: string, limit: number): Promise<ReleaseStream> {
    // The home may be another one since this had to wait for its turn.
    const opened = this.#openHere(accountId, limit);
    if (opened !== undefined) return opened;
    const homeId = this.#homes.of(accountId);
    const open = this.#here.count(accountId);
    const answer = await this.#ask(homeId, { accountId, open, limit });
    if (answer === undefined) {
      this.#retryLater();
      return this.#enter(accountId, this.#partOf(limit));
    }
    this.#noteTold(accountId, homeId, answer.granted ? open + 1 : open);
    if (!answer.granted) throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    return this.#enter(accountId, Infinity);
  }

  #enter(accountId: string, limit: number): ReleaseStream {
    const release = this.#here.enter(accountId, limit);
    return () => {
      release();
      if (this.#isClosed || this.#homes.of(accountId) === this.#homes.selfId) return;
      void this.#inTurn(accountId, () => this.#tell(accountId)).then((isTold) => {
        if (!isTold) this.#retryLater();
      });
    };
  }

  async #tellAll(): Promise<void> {
    let areTold = true;
    // One after the other, so that a change of the network is no flood of questions.
    for (const accountId of new Set([...this.#here.accounts(), ...this.#told.keys()])) {
      if (this.#isClosed) return;
      areTold = (await this.#inTurn(accountId, () => this.#tell(accountId))) && areTold;
    }
    if (!areTold) this.#retryLater();
  }

  /** Tells the home how many streams are open here, unless it knows. False if it does not answer. */
  async #tell(accountId: string): Promise<boolean> {
    const homeId = this.#homes.of(accountId);
    const open = this.#here.count(accountId);
    const told = this.#told.get(accountId);
    const isKnown = told?.homeId === homeId ? told.open === open : open === 0;
    if (isKnown || homeId === this.#homes.selfId) {
      if (open === 0 || told?.homeId !== homeId) this.#told.delete(accountId);
      return true;
    }
    if (!this.#homes.isInReach(homeId)) return false;
    if ((await this.#ask(homeId, { accountId, open, limit: null })) === undefined) return false;
    this.#noteTold(accountId, homeId, open);
    return true;
  }

  async #ask(
    homeId: string,
    question: Pick<StreamsQuestion, "accountId" | "open" | "limit">,
  ): Promise<StreamsAnswer | undefined> {
    this.#told.set(question.accountId, { homeId, open: undefined });
    const whole: StreamsQuestion = { kind: "streams", from: this.#homes.selfId, ...question };
    return (await this.#homes.ask(homeId, whole)) as StreamsAnswer | undefined;
  }

  #noteTold(accountId: string, homeId: string, open: number): void {
    if (open === 0) this.#told.delete(accountId);
    else this.#told.set(accountId, { homeId, open });
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#retry ??= this.#clock.schedule(RETRY_MS, () => {
      this.#retry = null;
      void this.#tellAll();
    });
  }

  #retellLater(): Timer {
    return this.#clock.schedule(RETELL_MS, () => {
      for (const [accountId, { homeId }] of this.#told) this.#told.set(accountId, { homeId, open: undefined });
      void this.#tellAll();
      this.#retell = this.#retellLater();
    });
  }

  /** Questions about one account follow each other, so that the home hears the last number last. */
  async #inTurn<T>(accountId: string, task: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(accountId);
    const turn = before === undefined ? task() : before.then(task, task);
    this.#turns.set(accountId, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(accountId) === turn) this.#turns.delete(accountId);
    }
  }

  #countElsewhere(accountId: string): number {
    let count = 0;
    for (const open of this.#elsewhere.get(accountId)?.values() ?? []) count += open;
    return count;
  }

  #setElsewhere(accountId: string, coordinatorId: string, open: number): void {
    const counts = this.#elsewhere.get(accountId) ?? new Map<string, number>();
    if (open > 0) this.#elsewhere.set(accountId, counts.set(coordinatorId, open));
    else if (counts.delete(coordinatorId) && counts.size === 0) this.#elsewhere.delete(accountId);
  }
}
