import { fnv1a } from "../../shared/net/fnv1a.ts";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { BusError } from "../bus/bus.ts";
import {
  enterStream,
  streamPool,
  type CallerQuota,
  type ReleaseStream,
  type RequestCaller,
} from "../quotas/caller-quota.ts";
import { RequestWindow, WINDOW_MS, type RequestCount } from "../quotas/request-window.ts";
import type { Peer } from "../store/cluster-store.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import { MESSAGES, type Question, type QuestionOf, type ReplyOf } from "./messages.ts";
import type { Peers } from "./peers.ts";
import { whileOthers } from "./while-others.ts";

/** Time for which an unresponsive quota owner is not asked, so that it does not delay requests. */
const SILENCE_MS = 1_000;
const MAX_SILENT = 1_000;

/** Maximum share of a limit that the unused blocks of all coordinators may contain together. */
const BLOCKS_SHARE = 0.05;
/** Maximum size of a block, regardless of the limit and the number of waiting requests. */
const MAX_BLOCK = 50_000;
/** Maximum lifetime of a cached refusal, after which a raised limit applies. */
const MAX_REFUSED_MS = 1_000;
const MAX_BLOCKS = 50_000;

/** Delay before counts are reported to an unresponsive quota owner again. */
const RETRY_MS = 1_000;
/** Interval of reports of all counts: an owner may have considered this coordinator dead. */
const REPORT_ALL_MS = 60_000;

/**
 * Counts requests and open streams for the network. The coordinator that owns the account's quota counts, and the other
 * coordinators ask it. While the owner is unreachable, each coordinator grants its part of a limit. After `close()`,
 * closed streams are not reported.
 */
export function networkQuota(peers: Peers, clock: Clock): CallerQuota & { readonly close: () => void } {
  const owners = quotaOwners(peers, clock);
  const requests = sharedRequests(clock, peers, owners);
  const streams = sharedStreams(clock, peers, owners);
  const stops = [
    peers.handle(MESSAGES.requests, (question) => requests.grant(question)),
    peers.handle(MESSAGES.streams, (question, fromId) => streams.note(question, fromId)),
    peers.onChange(() => streams.refresh()),
    peers.onBusChange(() => streams.refresh()),
  ];
  return {
    countRequest: (caller) => requests.count(caller),
    openStream: (accountId, limit) => streams.open(accountId, limit),
    close() {
      for (const stop of stops) stop();
      streams.close();
    },
  };
}

type QuotaOwners = ReturnType<typeof quotaOwners>;

/**
 * Assigns accounts to live coordinators by rendezvous hashing: only accounts of a joining or leaving coordinator move.
 */
export function quotaOwners(peers: Peers, clock: Clock) {
  let seeds: readonly { readonly id: string; readonly seed: number }[] = [];
  let seededPeers: readonly Peer[] | null = null;
  /** Time until which a coordinator is not asked, by its id. */
  const silentUntilMs = recentMap<number>(MAX_SILENT);
  return {
    of(accountId: string): string {
      const { live, self } = peers;
      if (live !== seededPeers) {
        seeds = live.map(({ id }) => ({ id, seed: fnv1a(id) }));
        seededPeers = live;
      }
      const hash = fnv1a(accountId);
      let [owner, best] = [self.id, -1];
      for (const { id, seed } of seeds) {
        const weight = mix(hash ^ seed);
        if (weight > best) [owner, best] = [id, weight];
      }
      return owner;
    },
    /** Returns true if the owner can be asked now. For this coordinator, returns true if the others can reach it. */
    isInReach(ownerId: string): boolean {
      if (peers.downReason !== null) return peers.live.length <= 1;
      return ownerId === peers.self.id || clock.monotonicMs() >= (silentUntilMs.get(ownerId) ?? -Infinity);
    },
    /** Returns this coordinator's part of a limit while the quota owner is unreachable. */
    partOf(limit: number): number {
      return limit === 0 ? 0 : Math.max(1, Math.floor(limit / Math.max(1, peers.live.length)));
    },
    /** Sends a request to the owner. Resolves with undefined if the owner does not reply. */
    async ask<Q, R>(ownerId: string, message: Question<Q, R>, question: DeepReadonly<Q>): Promise<R | undefined> {
      try {
        return await peers.ask(ownerId, message, question);
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        silentUntilMs.set(ownerId, clock.monotonicMs() + SILENCE_MS);
        return undefined;
      }
    },
  };
}

/** Mixes the hash so that every bit of the result depends on every input bit. Source: MurmurHash3, fmix32. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2_b2_ae_35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A block of requests that the quota owner has already granted and counted. */
interface Block {
  readonly ownerId: string;
  readonly limit: number;
  left: number;
  /** Time when the granted requests leave the owner's window. */
  expiresAtMs: number;
  /** Time until which the owner's last refusal is repeated without asking. */
  refusedUntilMs: number;
  remaining: number;
  freesAtMs: number;
  waiting: number;
  reply: Promise<boolean> | null;
}

/**
 * Counts requests per minute and credential across the network. The quota owner counts in an exact window and grants
 * blocks to the others, which count from the time of the grant. A minute can therefore exceed the limit only by the
 * blocks that are unused at its start, at most 5 %. Small limits use blocks of one request and are exact.
 */
function sharedRequests(clock: Clock, peers: Peers, owners: QuotaOwners) {
  /** Requests by credential: all of them at the quota owner, elsewhere those made here. */
  const window = new RequestWindow(clock);
  const blocks = recentMap<Block>(MAX_BLOCKS);

  function countPart(credential: string, limit: number): RequestCount {
    return window.count(credential, owners.partOf(limit));
  }

  function blockOf(credential: string, ownerId: string, limit: number): Block {
    const known = blocks.get(credential);
    if (known?.ownerId === ownerId && known.limit === limit) return known;
    const empty = { left: 0, expiresAtMs: 0, refusedUntilMs: 0, remaining: 0, freesAtMs: 0, waiting: 0, reply: null };
    const block = { ownerId, limit, ...empty };
    blocks.set(credential, block);
    return block;
  }

  /** Takes one request from the block. Returns undefined if the owner must be asked. */
  function take(credential: string, block: Block): RequestCount | undefined {
    const nowMs = clock.monotonicMs();
    const freesInMs = Math.max(0, block.freesAtMs - nowMs);
    if (block.left > 0 && nowMs < block.expiresAtMs) {
      block.left -= 1;
      window.count(credential, Infinity);
      return { isAllowed: true, remaining: block.remaining + block.left, freesInMs };
    }
    if (nowMs < block.refusedUntilMs) return { isAllowed: false, remaining: 0, freesInMs };
    return undefined;
  }

  async function countAtOwner(credential: string, block: Block): Promise<RequestCount> {
    block.waiting += 1;
    try {
      let counted: RequestCount | undefined;
      while (counted === undefined) {
        block.reply ??= ask(credential, block);
        if (!(await block.reply)) return countPart(credential, block.limit);
        counted = take(credential, block);
      }
      return counted;
    } finally {
      block.waiting -= 1;
    }
  }

  /**
   * Requests a block from the owner. Returns false without a reply. Otherwise the block holds requests or a refusal.
   */
  async function ask(credential: string, block: Block): Promise<boolean> {
    const { ownerId, limit } = block;
    const askedAtMs = clock.monotonicMs();
    const size = Math.floor((limit * BLOCKS_SHARE) / peers.live.length);
    const count = Math.min(MAX_BLOCK, Math.max(size, block.waiting));
    const reply = await owners.ask(ownerId, MESSAGES.requests, { credential, limit, count });
    block.reply = null;
    if (reply === undefined) return false;
    const { granted, remaining, freesInMs } = reply;
    block.left = granted;
    block.expiresAtMs = askedAtMs + WINDOW_MS;
    block.remaining = remaining;
    const nowMs = clock.monotonicMs();
    block.freesAtMs = nowMs + freesInMs;
    block.refusedUntilMs = granted > 0 ? 0 : nowMs + Math.min(Math.max(1, freesInMs), MAX_REFUSED_MS);
    return true;
  }

  return {
    count({ accountId, credential, limit }: RequestCaller): RequestCount | Promise<RequestCount> {
      const ownerId = owners.of(accountId);
      if (!owners.isInReach(ownerId)) return countPart(credential, limit);
      if (ownerId === peers.self.id) return window.count(credential, limit);
      const block = blockOf(credential, ownerId, limit);
      return take(credential, block) ?? countAtOwner(credential, block);
    },
    /** As quota owner, grants as many requests as the limit allows. */
    grant({ credential, limit, count }: QuestionOf<typeof MESSAGES.requests>): ReplyOf<typeof MESSAGES.requests> {
      const wanted = Math.min(count, MAX_BLOCK);
      let granted = 0;
      let last = window.peek(credential, limit);
      while (granted < wanted && last.isAllowed) {
        last = window.count(credential, limit);
        if (last.isAllowed) granted += 1;
      }
      return { granted, remaining: last.remaining, freesInMs: last.freesInMs };
    },
  };
}

type StreamsQuestion = QuestionOf<typeof MESSAGES.streams>;
type StreamsReply = ReplyOf<typeof MESSAGES.streams>;

/** The last report of an account's open streams, and the quota owner that received it. */
interface ReportedStreams {
  readonly ownerId: string;
  /** Number of open streams; undefined if the reply was lost. */
  readonly open: number | undefined;
}

/**
 * Counts open streams per account across the network. The quota owner admits each new stream. Coordinators
 * report totals, so that a lost or repeated message does no lasting harm.
 */
function sharedStreams(clock: Clock, peers: Peers, owners: QuotaOwners) {
  const here = streamPool();
  /** Open streams at other coordinators, by account and coordinator, as quota owner. Zero counts are removed. */
  const elsewhere = new Map<string, Map<string, number>>();
  const reported = new Map<string, ReportedStreams>();
  /** The latest query about each account; the next query waits for it. */
  const queues = new Map<string, Promise<unknown>>();
  let retry: Timer | null = null;
  let isClosed = false;
  const stopRepeating = whileOthers(peers, clock, REPORT_ALL_MS, () => {
    for (const [accountId, { ownerId }] of reported) reported.set(accountId, { ownerId, open: undefined });
    return reportAll();
  });

  /** Opens a stream by a decision of this coordinator. Returns undefined if the owner must be asked. */
  function openHere(accountId: string, limit: number): ReleaseStream | undefined {
    const ownerId = owners.of(accountId);
    if (!owners.isInReach(ownerId)) return enter(accountId, localLimit(limit));
    if (ownerId !== peers.self.id) return undefined;
    return enter(accountId, limit - countElsewhere(accountId));
  }

  /** Returns the limit while the quota owner is unreachable. All streams of a dead owner may resume here. */
  function localLimit(limit: number): number {
    return peers.downReason === null ? limit : owners.partOf(limit);
  }

  async function openAtOwner(accountId: string, limit: number): Promise<ReleaseStream> {
    // The owner may have changed while this call waited.
    const opened = openHere(accountId, limit);
    if (opened !== undefined) return opened;
    const ownerId = owners.of(accountId);
    const open = here.count("account", accountId);
    const reply = await ask(ownerId, { accountId, open, limit });
    if (reply === undefined) {
      retryLater();
      return enter(accountId, localLimit(limit));
    }
    noteReported(accountId, ownerId, reply.granted ? open + 1 : open);
    if (!reply.granted) throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    return enter(accountId, Infinity);
  }

  function enter(accountId: string, limit: number): ReleaseStream {
    const release = enterStream(here, accountId, limit);
    return () => {
      release();
      if (isClosed || owners.of(accountId) === peers.self.id) return;
      void inOrder(accountId, () => report(accountId)).then((isReported) => {
        if (!isReported) retryLater();
      });
    };
  }

  async function reportAll(): Promise<void> {
    let isReported = true;
    // Sequential, because a change of the network must not cause a flood of queries.
    for (const accountId of new Set([...here.idsOf("account"), ...reported.keys()])) {
      if (isClosed) return;
      isReported = (await inOrder(accountId, () => report(accountId))) && isReported;
    }
    if (!isReported) retryLater();
  }

  /** Reports the number of open streams to the owner, unless the owner knows it. Returns false if there is no reply. */
  async function report(accountId: string): Promise<boolean> {
    const ownerId = owners.of(accountId);
    const open = here.count("account", accountId);
    const last = reported.get(accountId);
    const isKnown = last?.ownerId === ownerId ? last.open === open : open === 0;
    if (isKnown || ownerId === peers.self.id) {
      if (open === 0 || last?.ownerId !== ownerId) reported.delete(accountId);
      return true;
    }
    if (!owners.isInReach(ownerId)) return false;
    if ((await ask(ownerId, { accountId, open, limit: null })) === undefined) return false;
    noteReported(accountId, ownerId, open);
    return true;
  }

  function ask(ownerId: string, question: StreamsQuestion): Promise<StreamsReply | undefined> {
    reported.set(question.accountId, { ownerId, open: undefined });
    return owners.ask(ownerId, MESSAGES.streams, question);
  }

  function noteReported(accountId: string, ownerId: string, open: number): void {
    if (open === 0) reported.delete(accountId);
    else reported.set(accountId, { ownerId, open });
  }

  function retryLater(): void {
    if (isClosed) return;
    retry ??= clock.schedule(RETRY_MS, () => {
      retry = null;
      void reportAll();
    });
  }

  /** Runs the queries about an account sequentially, so that the owner receives the newest number last. */
  async function inOrder<T>(accountId: string, task: () => Promise<T>): Promise<T> {
    const before = queues.get(accountId);
    const queued = before === undefined ? task() : before.then(task, task);
    queues.set(accountId, queued);
    try {
      return await queued;
    } finally {
      if (queues.get(accountId) === queued) queues.delete(accountId);
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
    /** Opens a stream of an account. @throws {RateLimitedError} if the account is at its limit. */
    open(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream> {
      return openHere(accountId, limit) ?? inOrder(accountId, () => openAtOwner(accountId, limit));
    },
    /** As quota owner, records the open streams at a coordinator and decides about one more. */
    note({ accountId, open, limit }: StreamsQuestion, fromId: string): StreamsReply {
      setElsewhere(accountId, fromId, open);
      const granted = limit !== null && here.count("account", accountId) + countElsewhere(accountId) < limit;
      if (granted) setElsewhere(accountId, fromId, open + 1);
      return { granted };
    },
    /** Updates the counts after live coordinators, or connections to them, have changed. */
    refresh(): void {
      const live = new Set(peers.live.map(({ id }) => id));
      for (const [accountId, counts] of elsewhere) {
        const isOwner = owners.of(accountId) === peers.self.id;
        for (const id of counts.keys()) if (!isOwner || !live.has(id)) counts.delete(id);
        if (counts.size === 0) elsewhere.delete(accountId);
      }
      void reportAll();
    },
    close(): void {
      isClosed = true;
      retry?.cancel();
      stopRepeating();
    },
  };
}
