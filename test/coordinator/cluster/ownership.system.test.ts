import { describe, expect, it, vi } from "vitest";
import { MESSAGES } from "../../../coordinator/cluster/messages.ts";
import { NotOwnerError } from "../../../coordinator/store/cluster-store.ts";
import { REFUSALS } from "../../../coordinator/store/refusals.ts";
import { beginFrames, finishedFrame, outputFrame, runFrames } from "../../support/network/attempt-frames.ts";
import type { PostgresDatabase } from "../../support/servers/postgres-database.ts";
import { withDatabase } from "../../support/servers/with-servers.ts";
import { FIRST_PAUSE_MS, GRACE_MS } from "../jobs/job-world.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { a, at, b, begin, net, openForEachTest, SELF, type Member } from "./ownership-world.ts";
import { inputTexts } from "../../support/input-texts.ts";

await withDatabase(describeOwnership);

function describeOwnership(database: PostgresDatabase): void {
  openForEachTest(database);

  const join = (member: Member | undefined): Promise<PlayedIsland> =>
    PlayedIsland.join(at(member).world, net.accountId);
  const stateOf = async (jobId: string): Promise<string | undefined> => (await net.stored(jobId))?.state;
  const adopt = async (): Promise<void> => {
    await at(a).store.cluster.renew(SELF, -1);
    await at(b).store.cluster.reap();
    await at(b).mover.adopt(await at(b).store.cluster.adopt(100));
  };
  const finish = async (island: PlayedIsland): Promise<void> => island.say(...runFrames(island.assign, "two"));

  describe("a waiting job that was handed over", () => {
    it("runs at the other coordinator, and is removed here", async () => {
      const jobId = await net.submit(at(a));
      expect(await a?.mover.transfer([jobId, "job_none"], "b")).toEqual([jobId]);
      expect(a?.dropped).toMatchObject([{ id: jobId, accountId: net.accountId, ownerId: "b", feed: { ending: null } }]);
      expect(a?.world.registry.get(jobId)).toBeUndefined();
      expect(a?.world.jobQuota.isFull(net.accountId, 1)).toBe(false);
      await b?.mover.adopt([jobId]);
      await b?.mover.adopt([jobId]);
      expect((await join(a)).last("assign")).toBeUndefined();
      const island = await join(b);
      await expect.poll(() => island.last("assign")?.jobId).toBe(jobId);
      await finish(island);
      expect(await stateOf(jobId)).toBe("completed");
    });

    it("still avoids the Island where it failed", async () => {
      const jobId = await net.submit(at(a));
      const island = await join(a);
      await expect.poll(() => island.last("assign")?.jobId).toBe(jobId);
      const name = { jobId, attempt: island.assign.attempt, seq: 1 };
      await island.say({ type: "failed", ...name, code: "internal", message: "", retryable: true });
      expect(await a?.mover.transfer([jobId], "b")).toEqual([jobId]);
      await b?.mover.adopt([jobId]);
      expect(b?.world.registry.get(jobId)?.avoidIslands).toEqual(new Set([island.hostId]));
    });

    it("is not dispatched during the move, and is queued again if it did not move", async () => {
      const [here, gone] = [await net.submit(at(a)), await net.submit(at(a))];
      // Storage rejects this hand-over, as if its reply had been lost.
      await a?.store.cluster.transfer([gone], "b");
      const moving = a?.mover.transfer([gone], "b");
      const island = await join(a);
      await expect.poll(() => island.last("assign")?.jobId).toBe(here);
      expect(await moving).toEqual([]);
      await finish(island);
      // The write of the attempt shows the new owner.
      await expect.poll(() => a?.dropped).toMatchObject([{ id: gone, ownerId: "b" }]);
      expect(await a?.mover.transfer([here], "b")).toEqual([]);
    });
  });

  describe("a job whose Island moves to another coordinator", () => {
    it("continues there, while the first one's late write is rejected and makes its Island reconnect", async () => {
      const { island, assign } = await begin();
      // The first coordinator receives no message about the new session.
      net.bus.setDown("gone");
      const returned = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      expect(returned.last("welcome")?.held).toEqual([
        { jobId: assign.jobId, attempt: 1, action: "continue", ackedSeq: 1 },
      ]);
      const { feed } = a?.world.registry.get(assign.jobId) ?? {};
      void island.say(outputFrame(assign, 2, "lost "));
      await expect.poll(() => a?.dropped).toMatchObject([{ id: assign.jobId, ownerId: "b" }]);
      expect(a?.dropped[0]?.feed).toBe(feed);
      expect(island.dismissals).toEqual([["another coordinator now owns a job of this Island", 0]]);
      await returned.say(outputFrame(assign, 2, "two"), finishedFrame(assign, 3, { completionTokens: 2 }));
      expect(await net.stored(assign.jobId)).toMatchObject({ state: "completed", output: "one two", attempt: 1 });
    });

    it("is cancelled there if it is a chat without readers", async () => {
      const { island, assign } = await begin({ isClientBound: true });
      await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      net.clock.advance(GRACE_MS);
      await expect.poll(() => stateOf(assign.jobId)).toBe("cancelled");
    });

    it("continues there while readers of the chat are unknown, and for a grace period after that", async () => {
      const { island, assign } = await begin({ isClientBound: true });
      net.bus.setDown("gone");
      await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      net.clock.advance(GRACE_MS);
      net.bus.setDown(null);
      net.clock.advance(GRACE_MS - 1);
      await at(b).world.settle();
      expect(await stateOf(assign.jobId)).toBe("running");
      net.clock.advance(1);
      await expect.poll(() => stateOf(assign.jobId)).toBe("cancelled");
    });

    it("continues there if it is a chat whose client is still at the first coordinator", async () => {
      const { island, assign } = await begin({ isClientBound: true });
      const { feed } = at(a).world.registry.get(assign.jobId) ?? expect.fail("It is not there");
      feed.subscribe(() => undefined);
      const returned = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      at(a).world.registry.drop(assign.jobId);
      await expect
        .poll(() => (net.clock.advance(10), b?.world.registry.get(assign.jobId)?.feed))
        .toHaveProperty("readers", 1);
      net.clock.advance(GRACE_MS);
      await returned.say(outputFrame(assign, 2, "two"));
      expect(await stateOf(assign.jobId)).toBe("running");
    });

    it("continues there even after the first coordinator has abandoned it", async () => {
      const { island, assign } = await begin();
      island.lose();
      net.clock.advance(GRACE_MS);
      await expect.poll(() => stateOf(assign.jobId)).toBe("pending");
      const returned = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      expect(returned.last("welcome")?.held).toMatchObject([{ action: "continue", ackedSeq: 1 }]);
      await returned.say(outputFrame(assign, 2, "two"), finishedFrame(assign, 3, { completionTokens: 2 }));
      expect(await net.stored(assign.jobId)).toMatchObject({ state: "completed", output: "one two", attempt: 1 });
      await a?.mover.reconcile();
      expect(a?.world.registry.get(assign.jobId)).toBeUndefined();
    });

    it("is dropped by the first on the announcement, so that clients never get stale state", async () => {
      const { island, assign } = await begin();
      island.lose();
      await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      await expect.poll(() => a?.dropped).toMatchObject([{ id: assign.jobId }]);
      expect(b?.world.registry.get(assign.jobId)?.state).toBe("running");
      // The late message names an earlier owner.
      a?.peers.broadcast(MESSAGES.moved, { jobIds: [assign.jobId] });
      await b?.store.cluster.ownersOf([assign.jobId]);
      expect(b?.world.registry.get(assign.jobId)?.state).toBe("running");
    });

    it("continues there even if the first was killed before it stored the attempt", async () => {
      const { island, assign } = await begin();
      await database.server.query(
        "DELETE FROM feed_chunks; UPDATE jobs SET state = 'pending', attempt = 0, island_id = NULL, started_at_ms = NULL",
        "test",
      );
      const returned = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      expect(returned.last("welcome")?.held).toMatchObject([{ action: "continue" }]);
      await returned.say(outputFrame(assign, 1, "one"), finishedFrame(assign, 2, { completionTokens: 1 }));
      expect(await net.stored(assign.jobId)).toMatchObject({ state: "completed", output: "one", attempt: 1 });
    });

    it("is not claimed without a token, nor once another attempt has started", async () => {
      const { island, assign } = await begin();
      const claim = `x${assign.claim.slice(1)}`;
      const liar = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, { ...assign, claim });
      expect(liar.last("welcome")?.held).toMatchObject([{ action: "drop" }]);
      island.lose();
      net.clock.advance(GRACE_MS);
      const other = await join(a);
      await expect.poll(() => other.last("assign")?.attempt).toBe(2);
      await other.say(...beginFrames(other.assign));
      const late = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      expect(late.last("welcome")?.held).toMatchObject([{ action: "drop" }]);
      expect(a?.world.registry.get(assign.jobId)?.islandId).toBe(other.hostId);
    });
  });

  describe("the jobs of a dead coordinator", () => {
    it("stay queued at another coordinator, or wait there for their Islands", async () => {
      const { island, assign } = await begin();
      const waiting = await net.submit(at(a));
      await adopt();
      expect(b?.world.registry.get(assign.jobId)).toMatchObject({ state: "running", islandId: island.hostId });
      const free = await join(b);
      await expect.poll(() => free.last("assign")?.jobId).toBe(waiting);
      const returned = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      await returned.say(outputFrame(assign, 2, "two"), finishedFrame(assign, 3, { completionTokens: 2 }));
      expect(await net.stored(assign.jobId)).toMatchObject({ state: "completed", output: "one two" });
    });

    it("go to other Islands after the grace period", async () => {
      const { island, assign } = await begin();
      await adopt();
      const other = await join(b);
      net.clock.advance(GRACE_MS);
      await expect.poll(() => other.last("assign")).toMatchObject({ jobId: assign.jobId, attempt: 2 });
      expect(other.assign.resume).toMatchObject({ text: "one " });
      expect(island.hostId).not.toBe(other.hostId);
    });

    it("start another attempt, instead of waiting, if their Island returned without them", async () => {
      const { island, assign } = await begin();
      const back = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId);
      await adopt();
      await expect.poll(() => stateOf(assign.jobId)).toBe("pending");
      net.clock.advance(FIRST_PAUSE_MS);
      await expect.poll(() => back.last("assign")).toMatchObject({ jobId: assign.jobId, attempt: 2 });
    });

    it("are dropped, with pending requests of Islands and clients, when the coordinator resumes", async () => {
      const { island, assign } = await begin();
      const waiting = await net.submit(at(a));
      const cancelled = await net.submit(at(a));
      await adopt();
      await expect(a?.world.registry.cancel(cancelled)).rejects.toBeInstanceOf(NotOwnerError);
      await a?.world.registry.settled();
      await a?.mover.reconcile();
      expect(a?.dropped.map(({ id }) => id).toSorted()).toEqual([assign.jobId, waiting, cancelled].toSorted());
      expect([...(a?.world.registry.list() ?? [])]).toEqual([]);
      expect(island.dismissals).toHaveLength(1);
      expect(await stateOf(cancelled)).not.toBe("cancelled");
    });
  });

  it("reconcile() finds jobs whose submission or hand-over lost its reply", async () => {
    const jobId = await net.submit(at(a));
    await a?.store.cluster.transfer([jobId], "b");
    await b?.mover.reconcile();
    expect(b?.world.registry.get(jobId)?.state).toBe("pending");
    const kept = await net.submit(at(b));
    await b?.mover.reconcile();
    expect([...(b?.world.registry.list() ?? [])].map(({ id }) => id)).toEqual([jobId, kept]);
  });

  it("reconcile() leaves the jobs of a batch that is being submitted", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { batches } = at(a).store;
    const submit = batches.submit.bind(batches);
    vi.spyOn(batches, "submit").mockImplementation(async (batch) => {
      const outcome = await submit(batch);
      await answered;
      return outcome;
    });
    const request = { accountId: net.accountId, slug: "cheap", priority: 0, idempotency: null };
    const inputs = inputTexts([{ prompt: "1" }, { prompt: "2" }]);
    const submitting = a?.world.batches.submit({ ...request, inputs, failMode: "best_effort" });
    await expect.poll(() => a?.store.cluster.ownedIds("", 10)).toHaveLength(2);
    const reconciling = a?.mover.reconcile();
    for (let round = 0; round < 3; round += 1) await a?.world.settle();
    // If this loaded the jobs into memory now, they would exist twice.
    expect([...(a?.world.registry.list() ?? [])]).toEqual([]);
    answer();
    const batch = await submitting;
    const here = [...(a?.world.registry.list() ?? [])];
    await reconciling;
    expect(here.map(({ id }) => id).toSorted()).toEqual(batch?.jobs.map(({ id }) => id).toSorted());
    expect([...(a?.world.registry.list() ?? [])]).toEqual(here);
    const islands = await Promise.all([join(a), join(a)]);
    await expect.poll(() => islands.map((island) => island.last("assign")?.attempt)).toEqual([1, 1]);
    for (const island of islands) await finish(island);
    await expect.poll(() => Promise.all(here.map(({ id }) => stateOf(id)))).toEqual(["completed", "completed"]);
  });

  it("a job whose input is gone at its assignment belonged to another coordinator and is dropped", async () => {
    const jobId = await net.submit(at(a));
    vi.spyOn(at(a).store.jobs, "input").mockRejectedValue(REFUSALS.no_job());
    await join(a);
    await expect.poll(() => a?.dropped).toMatchObject([{ id: jobId }]);
    expect(a?.world.registry.get(jobId)).toBeUndefined();
  });

  it("a batch continues at the coordinator that adopts it, with its failures", async () => {
    const request = { accountId: net.accountId, slug: "cheap", priority: 0, idempotency: null };
    const inputs = inputTexts([{ prompt: "1" }, { prompt: "2" }]);
    const batch = await a?.world.batches.submit({ ...request, inputs, failMode: "fail_fast" });
    const ids = batch?.jobs.map(({ id }) => id) ?? [];
    const moved = await a?.mover.transfer(ids.slice(0, 1), "b");
    await b?.mover.adopt(moved ?? []);
    await expect.poll(() => b?.world.registry.get(ids[0] ?? "")?.holdsQuota).toBe(true);
    await b?.world.registry.expireWait(ids[0] ?? "", null);
    await a?.world.batches.cancelEnded(a.world.batches.activeIds);
    await expect.poll(() => Promise.all(ids.map(stateOf))).toEqual(["timeout", "cancelled"]);
  });
}
