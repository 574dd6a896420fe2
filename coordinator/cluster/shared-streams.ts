import type { Clock, Timer } from "../../shared/clock.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { enterStream, streamPool, type ReleaseStream } from "../quotas/caller-quota.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import { M, type QuestionOf, type ReplyOf } from "./messages.ts";
import type { Peers } from "./peers.ts";
import type { QuotaOwners } from "./quota-owners.ts";

/** When a quota owner that did not answer is told again. */
const RETRY_MS = 1_000;
/** Owners are told everything anew so often: one may have taken this coordinator for dead for a while. */
const RETELL_MS = 60_000;

type StreamsQuestion = QuestionOf<typeof M.streams>;
type StreamsReply = ReplyOf<typeof M.streams>;

/** What a quota owner knows. */
interface Told {
  readonly ownerId: string;
  /** Undefined if its answer was lost. */
  readonly open: number | undefined;
}

/**
 * Open streams of each account, in the network. The owner of the account knows how many each coordinator has, and decides about one more.
 * Coordinators tell it numbers, not changes, so that a message that is lost or comes twice does no harm for long.
 */
export class SharedStreams {
  readonly #clock: Pick<Clock, "schedule">;
  readonly #peers: Pick<Peers, "living">;
  readonly #owners: QuotaOwners;
  readonly #here = streamPool();
  /** As quota owner: open streams at other coordinators, by account and coordinator. None is 0. */
  readonly #elsewhere = new Map<string, Map<string, number>>();
  /** By account. */
  readonly #told = new Map<string, Told>();
  /** The last question about an account; the next one follows it. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #retry: Timer | null = null;
  #retell: Timer;
  #isClosed = false;

  constructor(clock: Pick<Clock, "schedule">, peers: Pick<Peers, "living">, owners: QuotaOwners) {
    this.#clock = clock;
    this.#peers = peers;
    this.#owners = owners;
    this.#retell = this.#retellLater();
  }

  /** @throws {RateLimitedError} */
  open(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream> {
    return this.#openHere(accountId, limit) ?? this.#inTurn(accountId, () => this.#openAtOwner(accountId, limit));
  }

  /** As quota owner: notes what a coordinator has, and decides about one more. */
  note({ accountId, open, limit }: StreamsQuestion, fromId: string): StreamsReply {
    this.#setElsewhere(accountId, fromId, open);
    const granted = limit !== null && this.#here.count("account", accountId) + this.#countElsewhere(accountId) < limit;
    if (granted) this.#setElsewhere(accountId, fromId, open + 1);
    return { granted };
  }

  /** The living coordinators, or the ways to them, are others than before. */
  refresh(): void {
    const living = new Set(this.#peers.living.map(({ id }) => id));
    for (const [accountId, counts] of this.#elsewhere) {
      const isHome = this.#owners.of(accountId) === this.#owners.selfId;
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

  /** Undefined if the owner must be asked. */
  #openHere(accountId: string, limit: number): ReleaseStream | undefined {
    const ownerId = this.#owners.of(accountId);
    if (!this.#owners.isInReach(ownerId)) return this.#enter(accountId, this.#partOf(limit));
    if (ownerId !== this.#owners.selfId) return undefined;
    return this.#enter(accountId, limit - this.#countElsewhere(accountId));
  }

  /**
   * What may be open here while nobody counts for all. An owner that died is another one after its lease, and until then its streams go on
   * at the others, perhaps all at one: none is refused for it.
   */
  #partOf(limit: number): number {
    return this.#owners.isCutOff ? this.#owners.partOf(limit) : limit;
  }

  async #openAtOwner(accountId: string, limit: number): Promise<ReleaseStream> {
    // The owner may be another one since this had to wait for its turn.
    const opened = this.#openHere(accountId, limit);
    if (opened !== undefined) return opened;
    const ownerId = this.#owners.of(accountId);
    const open = this.#here.count("account", accountId);
    const answer = await this.#ask(ownerId, { accountId, open, limit });
    if (answer === undefined) {
      this.#retryLater();
      return this.#enter(accountId, this.#partOf(limit));
    }
    this.#noteTold(accountId, ownerId, answer.granted ? open + 1 : open);
    if (!answer.granted) throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    return this.#enter(accountId, Infinity);
  }

  #enter(accountId: string, limit: number): ReleaseStream {
    const release = enterStream(this.#here, accountId, limit);
    return () => {
      release();
      if (this.#isClosed || this.#owners.of(accountId) === this.#owners.selfId) return;
      void this.#inTurn(accountId, () => this.#tell(accountId)).then((isTold) => {
        if (!isTold) this.#retryLater();
      });
    };
  }

  async #tellAll(): Promise<void> {
    let areTold = true;
    // One after the other, so that a change of the network is no flood of questions.
    for (const accountId of new Set([...this.#here.idsOf("account"), ...this.#told.keys()])) {
      if (this.#isClosed) return;
      areTold = (await this.#inTurn(accountId, () => this.#tell(accountId))) && areTold;
    }
    if (!areTold) this.#retryLater();
  }

  /** Tells the owner how many streams are open here, unless it knows. False if it does not answer. */
  async #tell(accountId: string): Promise<boolean> {
    const ownerId = this.#owners.of(accountId);
    const open = this.#here.count("account", accountId);
    const told = this.#told.get(accountId);
    const isKnown = told?.ownerId === ownerId ? told.open === open : open === 0;
    if (isKnown || ownerId === this.#owners.selfId) {
      if (open === 0 || told?.ownerId !== ownerId) this.#told.delete(accountId);
      return true;
    }
    if (!this.#owners.isInReach(ownerId)) return false;
    if ((await this.#ask(ownerId, { accountId, open, limit: null })) === undefined) return false;
    this.#noteTold(accountId, ownerId, open);
    return true;
  }

  #ask(ownerId: string, question: StreamsQuestion): Promise<StreamsReply | undefined> {
    this.#told.set(question.accountId, { ownerId, open: undefined });
    return this.#owners.ask(ownerId, M.streams, question);
  }

  #noteTold(accountId: string, ownerId: string, open: number): void {
    if (open === 0) this.#told.delete(accountId);
    else this.#told.set(accountId, { ownerId, open });
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
      for (const [accountId, { ownerId }] of this.#told) this.#told.set(accountId, { ownerId, open: undefined });
      void this.#tellAll();
      this.#retell = this.#retellLater();
    });
  }

  /** Questions about one account follow each other, so that the owner hears the last number last. */
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
