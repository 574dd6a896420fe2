import { LocalBus } from "../../../../coordinator/bus/local-bus.ts";
import { publishFeeds } from "../../../../coordinator/cluster/feed-publisher.ts";
import { followFeeds } from "../../../../coordinator/cluster/feed-replicas.ts";
import { MESSAGES } from "../../../../coordinator/cluster/messages.ts";
import type { Peers } from "../../../../coordinator/cluster/peers.ts";
import type { ActiveJob } from "../../../../coordinator/jobs/active-job.ts";
import { JobFeed, type Feed, type FeedEnding } from "../../../../coordinator/jobs/feed.ts";
import type { FeedPosition } from "../../../../coordinator/jobs/feed-position.ts";
import type { FeedItem, FeedPart, JobRecord } from "../../../../coordinator/store/jobs/job-store.ts";
import { LargeJson, type LargeRef } from "../../../../coordinator/store/jobs/large-json.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { Random } from "../../../support/random.ts";
import { FaultyBus } from "../faulty-bus.ts";
import { peerOf, peersOn } from "../peers-on.ts";

export const DONE: FeedEnding = {
  type: "done",
  usage: { promptTokens: 1, completionTokens: 1 },
  finishReason: "stop",
  creditsUsedMicro: 1,
  output: undefined,
};

export const token = (content: string): FeedItem => ({ type: "token", content, count: 1 });
export const status = (state: string): FeedItem => ({ type: "status", state });
export const textOf = (items: readonly FeedItem[]): string =>
  items.map((item) => (item.type === "token" ? item.content : "")).join("");

/** State of a job in storage. */
interface StoredJob {
  ownerId: string | null;
  parts: FeedPart[];
  readonly large: Map<string, string>;
}

/** One coordinator, with the feeds of its jobs and its readers of other coordinators' feeds. */
export class FeedSide {
  readonly id: string;
  readonly bus: FaultyBus;
  readonly peers: Peers;
  readonly published: ReturnType<typeof publishFeeds>;
  readonly followed: ReturnType<typeof followFeeds>;
  readonly feeds = new Map<string, JobFeed>();
  readonly clientBound = new Set<string>();
  /** Jobs that will end unless a reader connects. */
  readonly awaited = new Set<string>();
  readonly warnings: unknown[] = [];
  isDead = false;
  readonly #jobs = new Map<string, ActiveJob>();
  readonly #world: FeedWorld;

  constructor(world: FeedWorld, id: string) {
    this.#world = world;
    this.id = id;
    const { clock, random } = world;
    this.bus = new FaultyBus(world.bus, clock, random.fork());
    const jobs = {
      get: (jobId: string): ActiveJob | undefined => {
        const feed = this.feeds.get(jobId);
        const job = this.#jobs.get(jobId);
        if (feed === undefined || job?.feed === feed) return feed === undefined ? undefined : job;
        const made = { feed, isClientBound: this.clientBound.has(jobId) } as unknown as ActiveJob;
        this.#jobs.set(jobId, made);
        return made;
      },
      noteReader: (jobId: string) => void this.awaited.delete(jobId),
      awaitReaders: (jobIds: readonly string[]) => jobIds.forEach((jobId) => this.awaited.add(jobId)),
    };
    const log = { warn: (...line: unknown[]) => void this.warnings.push(line) };
    this.peers = peersOn(this.bus, id, [id], { clock, log });
    this.published = publishFeeds(this.peers, jobs);
    this.followed = followFeeds(this.peers, world, world, world.maxFollowedBytes, { clock, log });
  }

  /** Opens the feed for a client here. */
  open(jobId: string, after?: FeedPosition): Promise<Feed> {
    const own = this.feeds.get(jobId);
    return own === undefined ? this.followed.open(jobId, after) : own.load().then(() => own);
  }

  /** Adds items to the feed of a job of this coordinator, without storing them. */
  say(jobId: string, items: readonly FeedItem[], attempt = 1): void {
    this.feeds.get(jobId)?.push(items, attempt);
  }

  /** Kills the coordinator, which then sends nothing. Output that is not stored is lost. */
  async kill(): Promise<void> {
    this.isDead = true;
    await this.bus.close();
    this.feeds.clear();
    this.close();
    this.#world.noteLiving();
  }

  close(): void {
    this.followed.close();
    this.peers.close();
  }

  /** Drops the job, as after a rejected write of a job that another coordinator owns. */
  drop(jobId: string): void {
    const feed = this.feeds.get(jobId);
    if (feed === undefined) return;
    this.feeds.delete(jobId);
    this.published.drop(jobId);
    this.followed.resume(feed, null);
  }

  /** Takes a job over from storage. */
  take(jobId: string): JobFeed {
    this.drop(jobId);
    const stored = this.#world.stored(jobId);
    stored.ownerId = this.id;
    const feed = restoredFeed(jobId, stored.parts);
    this.feeds.set(jobId, feed);
    this.peers.broadcast(MESSAGES.moved, { jobIds: [jobId] });
    return feed;
  }
}

/** Several coordinators on one bus and one storage, without Islands and clients, to test the feeds of jobs. */
export class FeedWorld {
  readonly clock = new ManualClock();
  readonly bus = new LocalBus();
  readonly random: Random;
  readonly sides: FeedSide[] = [];
  readonly #jobs = new Map<string, StoredJob>();
  isStorageAway = false;
  /** Memory limit of the sides that are created from now on. */
  maxFollowedBytes = Infinity;
  feedReads = 0;

  constructor(seed = 1) {
    this.random = new Random(seed);
  }

  side(): FeedSide {
    const side = new FeedSide(this, `c${this.sides.length + 1}`);
    this.sides.push(side);
    this.noteLiving();
    return side;
  }

  /** Updates the list of live coordinators everywhere. */
  noteLiving(): void {
    const live = this.sides.filter(({ isDead }) => !isDead).map(({ id }) => peerOf(id));
    for (const { peers } of this.sides) peers.setLive(live);
  }

  /** Creates a job of `owner` with an empty feed. */
  job(owner: FeedSide, jobId = "job_1"): JobFeed {
    this.#jobs.set(jobId, { ownerId: owner.id, parts: [], large: new Map() });
    const feed = new JobFeed(jobId);
    owner.feeds.set(jobId, feed);
    return feed;
  }

  stored(jobId: string): StoredJob {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new Error(`There is no ${jobId}`);
    return job;
  }

  /** Stores the current feed. */
  store(jobId: string, feed: Feed): void {
    this.stored(jobId).parts = partsOf(feed);
  }

  /** Ends the job and stores its whole feed. */
  end(owner: FeedSide, jobId = "job_1"): void {
    const feed = owner.feeds.get(jobId);
    if (feed === undefined) return;
    this.store(jobId, feed);
    this.stored(jobId).ownerId = null;
    owner.feeds.delete(jobId);
    feed.end(DONE);
  }

  async ownersOf(jobIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (this.isStorageAway) throw new ServiceError("storage_unavailable", "Storage is away");
    const owned = jobIds.flatMap((id) => {
      const ownerId = this.#jobs.get(id)?.ownerId ?? null;
      return ownerId === null ? [] : [[id, ownerId] as const];
    });
    return new Map(owned);
  }

  async get(jobId: string): Promise<JobRecord | undefined> {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return undefined;
    const ended = {
      state: "completed",
      usage: { promptTokens: 1, completionTokens: 1 },
      finishReason: "stop",
    } as const;
    const state = job.ownerId === null ? ended : { state: "running" as const };
    return { id: jobId, outputRemovedAtMs: null, creditsUsedMicro: 1, error: null, ...state } as unknown as JobRecord;
  }

  async feed(jobId: string): Promise<readonly FeedPart[]> {
    this.feedReads += 1;
    return this.stored(jobId).parts;
  }

  large(jobId: string, { name, chars }: LargeRef): LargeJson {
    return new LargeJson(chars, async (piece) => (piece === 0 ? this.stored(jobId).large.get(name) : undefined), {
      name,
    });
  }

  /** Runs everything that is due at this moment. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Advances time in small steps. */
  async pass(ms: number, stepMs = 25): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(stepMs);
      await this.settle();
    }
  }

  close(): void {
    for (const side of this.sides) side.close();
  }
}

function partsOf(feed: Feed): FeedPart[] {
  let outputs = 0;
  return feed.items.map((item) => {
    if (item.type !== "status") outputs += 1;
    return { attempt: feed.attemptOf(outputs), items: [item] };
  });
}

function restoredFeed(jobId: string, parts: readonly FeedPart[]): JobFeed {
  const outputs: { attempt: number; count: number }[] = [];
  for (const { attempt, items } of parts) {
    const count = items.filter(({ type }) => type !== "status").length;
    const last = outputs.at(-1);
    if (last?.attempt === attempt) last.count += count;
    else if (count > 0) outputs.push({ attempt, count });
  }
  const items = parts.flatMap((part) => part.items);
  const hasText = items.some(({ type }) => type === "token");
  const progress = { items: items.length, tokens: outputs.reduce((sum, { count }) => sum + count, 0), bytes: 0 };
  return JobFeed.restored(jobId, {
    progress: {
      ...progress,
      largeBytes: 0,
      outputs,
      hasOutput: outputs.length > 0,
      hasText,
      hasVisible: hasText,
      lastSeq: 0,
    },
    read: async () => parts,
  });
}
