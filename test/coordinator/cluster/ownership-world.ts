import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import type { JobMover } from "../../../coordinator/cluster/moved-jobs.ts";
import type { shareJobs } from "../../../coordinator/cluster/shared-jobs.ts";
import type { Peers } from "../../../coordinator/cluster/peers.ts";
import type { Feed } from "../../../coordinator/jobs/feed.ts";
import type { PostgresStore } from "../../../coordinator/store/postgres/postgres-store.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../support/servers/postgres-database.ts";
import { JobWorld } from "../jobs/job-world.ts";
import { GRANT_MICRO } from "../jobs/open-job-world.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { makeAccount } from "../store/contract/store-builders.ts";
import { peerOf } from "./peers-on.ts";
import { CuttableBus } from "./quota-network.ts";

export const LEASE_MS = 60_000;
export const SELF = { address: "http://127.0.0.1:1", version: "1" };

/** Job that this coordinator no longer owns. */
interface DroppedJob {
  readonly id: string;
  readonly accountId: string;
  readonly feed: Feed;
  readonly ownerId: string | null;
}

/** A coordinator without HTTP and sockets. Several of them share a PostgreSQL database. */
export interface Member {
  readonly store: PostgresStore;
  readonly world: JobWorld;
  readonly peers: Peers;
  readonly mover: JobMover;
  readonly shared: ReturnType<typeof shareJobs>;
  readonly dropped: DroppedJob[];
}

/** World of the current test, with two coordinators. */
export let net: OwnershipWorld;
export let [a, b]: Member[] = [];

/** Opens a world for each test that is declared with `database`. */
export function openForEachTest(database: PostgresDatabase): void {
  beforeEach(async () => {
    net = await OwnershipWorld.open(database);
    ({ a, b } = net);
  });
  afterEach(() => net.close());
}

export const at = (member: Member | undefined): Member => member ?? expect.fail("not open");

/**
 * Submits a job that an Island of `a` has started, with the first part of its output. `more` adds fields to the
 * submission.
 */
export async function begin(more: object = {}): Promise<{ island: PlayedIsland; assign: Assign; jobId: string }> {
  const island = await PlayedIsland.join(at(a).world, net.accountId);
  const jobId = await net.submit(at(a), more);
  await expect.poll(() => island.last("assign")?.jobId).toBe(jobId);
  await island.say(...beginFrames(island.assign), outputFrame(island.assign, 1, "one "));
  return { island, assign: island.assign, jobId };
}

/** Two coordinators, `a` and `b`, with common secrets, bus and clock, and an account with 1,000 credits. */
export class OwnershipWorld {
  readonly clock = new ManualClock();
  readonly bus = new CuttableBus();
  readonly a: Member;
  readonly b: Member;
  accountId = "";

  private constructor(database: PostgresDatabase) {
    const secret = randomBytes(32);
    [this.a, this.b] = [this.#member(database, "a", secret), this.#member(database, "b", secret)];
  }

  static async open(database: PostgresDatabase): Promise<OwnershipWorld> {
    await database.empty();
    const opened = new OwnershipWorld(database);
    for (const { store } of opened.members) await store.cluster.renew(SELF, LEASE_MS);
    opened.accountId = await makeAccount(opened.a.store, { grantMicro: GRANT_MICRO });
    return opened;
  }

  get members(): readonly [Member, Member] {
    return [this.a, this.b];
  }

  async submit({ world }: Member, more: object = {}): Promise<string> {
    const request = {
      accountId: this.accountId,
      slug: "cheap",
      input: { prompt: "Hi" },
      priority: 0,
      idempotency: null,
    };
    const { record } = await world.jobs.submit({ ...request, ...more });
    return record.id;
  }

  /** Reads the stored job. */
  stored(jobId: string): ReturnType<PostgresStore["jobs"]["get"]> {
    return this.b.store.jobs.get(jobId);
  }

  /**
   * Closes the world. Checks that no write failed, that only Islands caused warnings, and that the books are correct.
   */
  async close(): Promise<void> {
    for (const { world } of this.members) world.close();
    const faults = this.members.map(({ world }) => [
      ...world.fatal,
      ...world.warned.filter(([facts]) => !("island_id" in facts)),
    ]);
    expect(faults).toEqual([[], []]);
    expect(await this.b.store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongHolds: [], wrongBalances: [] });
    for (const { store } of this.members) await store.close();
  }

  #member(database: PostgresDatabase, id: string, secret: Buffer): Member {
    const { clock, bus } = this;
    const store = database.store(clock, id);
    const world = new JobWorld(store, clock, secret, 0, bus);
    const { peers, registry: jobs } = world;
    const { router: shared, member } = world.core;
    peers.setLive(["a", "b"].map(peerOf));
    const dropped: DroppedJob[] = [];
    jobs.subscribe((event) => {
      if (event.type !== "job_dropped") return;
      const { job, feed, ownerId } = event;
      dropped.push({ id: job.id, accountId: job.accountId, feed, ownerId });
    });
    return { store, world, peers, mover: member.mover, shared, dropped };
  }
}
