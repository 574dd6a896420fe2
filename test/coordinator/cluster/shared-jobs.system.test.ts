import { describe, expect, it } from "vitest";
import type { Feed } from "../../../coordinator/jobs/feed.ts";
import { finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import type { PostgresDatabase } from "../../support/servers/postgres-database.ts";
import { withDatabase } from "../../support/servers/with-servers.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { a, at, b, begin, net, openForEachTest, SELF, type Member } from "./ownership-world.ts";
import { inputTexts } from "../../support/input-texts.ts";

await withDatabase(describeSharedJobs);

function describeSharedJobs(database: PostgresDatabase): void {
  openForEachTest(database);

  const jobsOf = (member: Member | undefined) => at(member).world.jobs;
  const openAt = (member: Member | undefined, jobId: string): Promise<Feed> =>
    jobsOf(member).openFeed(net.accountId, jobId);
  /** Waits until delayed messages have been sent. */
  const untilText = (feed: Feed, text: string) =>
    expect
      .poll(() => {
        net.clock.advance(10);
        return feed.text();
      })
      .toBe(text);

  describe("a job of another coordinator", () => {
    it("is shown with its owner's state and waiting reason", async () => {
      const waiting = await net.submit(at(a));
      expect(await jobsOf(b).get(net.accountId, waiting)).toEqual(await jobsOf(a).get(net.accountId, waiting));
      expect(await jobsOf(b).get(net.accountId, waiting)).toMatchObject({ waiting: { reason: "no_island_online" } });
      await jobsOf(a).cancel(net.accountId, waiting);
      const { jobId } = await begin();
      const shown = await jobsOf(b).get(net.accountId, jobId);
      expect(shown).toMatchObject({ state: "running", attempt: 1, startedAtMs: net.clock.now(), waiting: null });
      expect(shown.placement).toMatchObject({ choice: { islandId: shown.islandId }, reservedIslandId: null });
      expect(shown.placement).toEqual((await jobsOf(a).get(net.accountId, jobId)).placement);
    });

    it("is cancelled there once, and then its content is deleted", async () => {
      const { island, jobId } = await begin();
      await expect(jobsOf(b).deleteContent(net.accountId, jobId)).rejects.toMatchObject({ code: "validation_failed" });
      expect(await jobsOf(b).cancel(net.accountId, jobId)).toBe("cancelled");
      expect(island.last("cancel")).toMatchObject({ jobId });
      await expect(jobsOf(b).cancel(net.accountId, jobId)).rejects.toMatchObject({
        code: "job_not_cancellable",
        message: expect.stringContaining("The job is already cancelled") as string,
      });
      await jobsOf(b).deleteContent(net.accountId, jobId);
      expect(await jobsOf(b).get(net.accountId, jobId)).toMatchObject({ state: "cancelled", input: {} });
      await expect(jobsOf(b).cancel("acc_other", jobId)).rejects.toMatchObject({ code: "not_found" });
    });

    it("is read while it runs, to its end", async () => {
      const { island, jobId } = await begin();
      const [feed, again] = [await openAt(b, jobId), await openAt(b, jobId)];
      feed.subscribe(() => undefined);
      expect([feed.text(), again]).toEqual(["one ", feed]);
      await island.say(outputFrame(island.assign, 2, "two"));
      await untilText(feed, "one two");
      await island.say(finishedFrame(island.assign, 3, { completionTokens: 2 }));
      await untilText(feed, "one two");
      await expect.poll(() => (net.clock.advance(10), feed.ending?.type)).toBe("done");
      const [ended, own] = [await openAt(b, jobId), await openAt(a, jobId)];
      expect([ended.items, ended.ending]).toEqual([own.items, own.ending]);
    });

    it("keeps its readers here when it moves here with its Island, and when it moves back", async () => {
      const { island, jobId } = await begin();
      const [here, there] = [await openAt(a, jobId), await openAt(b, jobId)];
      for (const feed of [here, there]) feed.subscribe(() => undefined);
      const { assign } = island;
      island.lose();
      const again = await PlayedIsland.rejoin(at(b).world, net.accountId, island.hostId, assign);
      await again.say(outputFrame(assign, 2, "two "));
      // In production, the next write of `a` shows that it no longer owns the job.
      at(a).world.registry.drop(jobId);
      for (const feed of [here, there]) await untilText(feed, "one two ");
      again.lose();
      const back = await PlayedIsland.rejoin(at(a).world, net.accountId, island.hostId, assign);
      at(b).world.registry.drop(jobId);
      await back.say(outputFrame(assign, 3, "three"));
      for (const feed of [here, there]) await untilText(feed, "one two three");
      expect(await openAt(a, jobId)).not.toBe(here);
      expect((await openAt(a, jobId)).items).toEqual(here.items);
    });

    it("is followed here when this coordinator adopts it", async () => {
      const { jobId } = await begin();
      const feed = await openAt(b, jobId);
      feed.subscribe(() => undefined);
      await at(a).store.cluster.renew(SELF, -1);
      a?.shared.close();
      await at(b).store.cluster.reap();
      await at(b).mover.adopt(await at(b).store.cluster.adopt(100));
      await jobsOf(b).cancel(net.accountId, jobId);
      await expect.poll(() => (net.clock.advance(10), feed.ending)).toMatchObject({ code: "cancelled" });
      expect(feed.text()).toBe("one ");
    });
  });

  it("a batch can be cancelled at any coordinator", async () => {
    const request = { accountId: net.accountId, slug: "free", priority: 0, idempotency: null };
    const inputs = inputTexts([{ prompt: "1" }, { prompt: "2" }]);
    const { id, jobs } = await at(a).world.batches.submit({ ...request, inputs, failMode: "best_effort" });
    await at(a).mover.transfer([jobs[0]?.id ?? ""], "b");
    await at(b).mover.adopt([jobs[0]?.id ?? ""]);
    const cancelled = await at(b).world.batches.cancel(net.accountId, id);
    expect(cancelled.jobs.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
    await expect(at(a).world.batches.cancel(net.accountId, id)).rejects.toMatchObject({ code: "job_not_cancellable" });
  });
}
