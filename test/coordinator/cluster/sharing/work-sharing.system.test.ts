import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shareWork, type WorkSharing } from "../../../../coordinator/cluster/work-sharing.ts";
import { runFrames } from "../../../support/network/attempt-frames.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { PlayedIsland } from "../../jobs/played-island.ts";
import { net, openForEachTest, type Member } from "../ownership-world.ts";

await withDatabase(describeSharing);

function describeSharing(database: PostgresDatabase): void {
  openForEachTest(database);
  let sharings: WorkSharing[];
  const warnings: string[] = [];
  beforeEach(() => void (sharings = [share(net.a), share(net.b)]));
  afterEach(async () => {
    await Promise.all(sharings.map((sharing) => sharing.close()));
    expect(warnings).toEqual([]);
  });

  function share({ peers, mover, world }: Member): WorkSharing {
    const log = { warn: (facts: object, message: string) => void warnings.push(`${message} ${JSON.stringify(facts)}`) };
    const schedule: Parameters<typeof shareWork>[3] = (event) => world.dispatcher.schedule(event);
    return shareWork(peers, mover, world.scheduler.shared, schedule, { clock: net.clock, log });
  }

  const finish = async (island: PlayedIsland): Promise<void> => island.say(...runFrames(island.assign, "text"));

  /** Advances time until the Island has a job. */
  const nextJob = async (island: PlayedIsland): Promise<string | undefined> => {
    await expect
      .poll(() => {
        net.clock.advance(25);
        return island.last("assign");
      })
      .toBeDefined();
    return island.last("assign")?.jobId;
  };

  describe("a job at a coordinator without Islands", () => {
    it("waits for the busy Islands of another coordinator, and shows this at both", async () => {
      net.a.world.seen.begin(sharings[0] ?? expect.fail("not open"));
      await net.submit(net.b);
      const island = await PlayedIsland.join(net.b.world, net.accountId);
      await nextJob(island);
      await net.submit(net.b);
      const jobId = await net.submit(net.a);
      const waitingAt = async ({ world }: Member) => (await world.jobs.get(net.accountId, jobId)).waiting;
      expect(await waitingAt(net.a)).toMatchObject({ reason: "no_island_online" });
      await expect
        .poll(async () => {
          net.clock.advance(25);
          return (await waitingAt(net.a))?.reason;
        })
        .toBe("all_busy");
      const message =
        "at the job's coordinator: no Island is online. Elsewhere in the network, 1 slot can run the job; it is busy";
      expect(await waitingAt(net.a)).toMatchObject({ message });
      expect(await waitingAt(net.b)).toMatchObject({ message });
    });

    it("runs on an Island of another coordinator, which then owns it", async () => {
      const jobId = await net.submit(net.a);
      const island = await PlayedIsland.join(net.b.world, net.accountId);
      expect(await nextJob(island)).toBe(jobId);
      expect(net.a.dropped).toMatchObject([{ id: jobId, ownerId: "b" }]);
      await finish(island);
      expect((await net.stored(jobId))?.state).toBe("completed");
      expect(net.a.world.scheduler.waitingCount + net.b.world.scheduler.waitingCount).toBe(0);
    });

    it("moves to the coordinator where a slot becomes free, unless it was cancelled", async () => {
      const jobIds = [await net.submit(net.a), await net.submit(net.a)];
      await net.a.world.jobs.cancel(net.accountId, jobIds[0] ?? "");
      const island = await PlayedIsland.join(net.b.world, net.accountId);
      expect(await nextJob(island)).toBe(jobIds[1]);
      await finish(island);
      const states = await Promise.all(jobIds.map(async (id) => (await net.stored(id))?.state));
      expect(states).toEqual(["cancelled", "completed"]);
    });
  });
}
