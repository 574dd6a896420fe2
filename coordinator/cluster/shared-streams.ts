import type { Clock, Timer } from "../../shared/clock.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { enterStream, streamPool, type ReleaseStream } from "../quotas/caller-quota.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import { M, type QuestionOf, type ReplyOf } from "./messages.ts";
import type { Peers } from "./peers.ts";
import type { QuotaOwners } from "./quota-owners.ts";
import { whileOthers } from "./while-others.ts";

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
export function sharedStreams(clock: Clock, peers: Peers, owners: QuotaOwners) {
  const here = streamPool();
  /** As quota owner: open streams at other coordinators, by account and coordinator. None is 0. */
  const elsewhere = new Map<string, Map<string, number>>();
  /** By account. */
  const reported = new Map<string, Told>();
  /** The last question about an account; the next one follows it. */
  const turns = new Map<string, Promise<unknown>>();
  let retry: Timer | null = null;
  let isClosed = false;
  const stopRetelling = whileOthers(peers, clock, RETELL_MS, () => {
    for (const [accountId, { ownerId }] of reported) reported.set(accountId, { ownerId, open: undefined });
    return tellAll();
  });

  /** Undefined if the owner must be asked. */
  function openHere(accountId: string, limit: number): ReleaseStream | undefined {
    const ownerId = owners.of(accountId);
    if (!owners.isInReach(ownerId)) return enter(accountId, partOf(limit));
    if (ownerId !== owners.selfId) return undefined;
    return enter(accountId, limit - countElsewhere(accountId));
  }

  /**
   * What may be open here while nobody counts for all. An owner that died is another one after its lease, and until then its streams go on
   * at the others, perhaps all at one: none is refused for it.
   */
  function partOf(limit: number): number {
    return owners.isCutOff ? owners.partOf(limit) : limit;
  }

  async function openAtOwner(accountId: string, limit: number): Promise<ReleaseStream> {
    // The owner may be another one since this had to wait for its turn.
    const opened = openHere(accountId, limit);
    if (opened !== undefined) return opened;
    const ownerId = owners.of(accountId);
    const open = here.count("account", accountId);
    const answer = await ask(ownerId, { accountId, open, limit });
    if (answer === undefined) {
      retryLater();
      return enter(accountId, partOf(limit));
    }
    noteTold(accountId, ownerId, answer.granted ? open + 1 : open);
    if (!answer.granted) throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    return enter(accountId, Infinity);
  }

  function enter(accountId: string, limit: number): ReleaseStream {
    const release = enterStream(here, accountId, limit);
    return () => {
      release();
      if (isClosed || owners.of(accountId) === owners.selfId) return;
      void inTurn(accountId, () => tell(accountId)).then((isTold) => {
        if (!isTold) retryLater();
      });
    };
  }

  async function tellAll(): Promise<void> {
    let areTold = true;
    // One after the other, so that a change of the network is no flood of questions.
    for (const accountId of new Set([...here.idsOf("account"), ...reported.keys()])) {
      if (isClosed) return;
      areTold = (await inTurn(accountId, () => tell(accountId))) && areTold;
    }
    if (!areTold) retryLater();
  }

  /** Tells the owner how many streams are open here, unless it knows. False if it does not answer. */
  async function tell(accountId: string): Promise<boolean> {
    const ownerId = owners.of(accountId);
    const open = here.count("account", accountId);
    const told = reported.get(accountId);
    const isKnown = told?.ownerId === ownerId ? told.open === open : open === 0;
    if (isKnown || ownerId === owners.selfId) {
      if (open === 0 || told?.ownerId !== ownerId) reported.delete(accountId);
      return true;
    }
    if (!owners.isInReach(ownerId)) return false;
    if ((await ask(ownerId, { accountId, open, limit: null })) === undefined) return false;
    noteTold(accountId, ownerId, open);
    return true;
  }

  function ask(ownerId: string, question: StreamsQuestion): Promise<StreamsReply | undefined> {
    reported.set(question.accountId, { ownerId, open: undefined });
    return owners.ask(ownerId, M.streams, question);
  }

  function noteTold(accountId: string, ownerId: string, open: number): void {
    if (open === 0) reported.delete(accountId);
    else reported.set(accountId, { ownerId, open });
  }

  function retryLater(): void {
    if (isClosed) return;
    retry ??= clock.schedule(RETRY_MS, () => {
      retry = null;
      void tellAll();
    });
  }

  /** Questions about one account follow each other, so that the owner hears the last number last. */
  async function inTurn<T>(accountId: string, task: () => Promise<T>): Promise<T> {
    const before = turns.get(accountId);
    const turn = before === undefined ? task() : before.then(task, task);
    turns.set(accountId, turn);
    try {
      return await turn;
    } finally {
      if (turns.get(accountId) === turn) turns.delete(accountId);
    }
  }

  function countElsewhere(accountId: string): number {
    let count = 0;
    for (const open of elsewhere.get(accountId)?.values() ?? []) count += open;
    return count;
  }

  function setElsewhere(accountId: string, coordinatorId: string, open: number): void {
    const counts = elsewhere.get(accountId) ?? new Map<string, number>();
    if (open > 0) elsewhere.set(accountId, counts.set(coordinatorId, open));
    else if (counts.delete(coordinatorId) && counts.size === 0) elsewhere.delete(accountId);
  }

  return {
    /** @throws {RateLimitedError} */
    open(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream> {
      return openHere(accountId, limit) ?? inTurn(accountId, () => openAtOwner(accountId, limit));
    },
    /** As quota owner: notes what a coordinator has, and decides about one more. */
    note({ accountId, open, limit }: StreamsQuestion, fromId: string): StreamsReply {
      setElsewhere(accountId, fromId, open);
      const granted = limit !== null && here.count("account", accountId) + countElsewhere(accountId) < limit;
      if (granted) setElsewhere(accountId, fromId, open + 1);
      return { granted };
    },
    /** The living coordinators, or the ways to them, are others than before. */
    refresh(): void {
      const living = new Set(peers.living.map(({ id }) => id));
      for (const [accountId, counts] of elsewhere) {
        const isHome = owners.of(accountId) === owners.selfId;
        for (const id of counts.keys()) if (!isHome || !living.has(id)) counts.delete(id);
        if (counts.size === 0) elsewhere.delete(accountId);
      }
      void tellAll();
    },
    close(): void {
      isClosed = true;
      retry?.cancel();
      stopRetelling();
    },
  };
}
