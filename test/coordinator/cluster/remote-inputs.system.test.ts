import { describe, expect, it } from "vitest";
import { beginFrames, finishedFrame } from "../../support/attempt-frames.ts";
import type { PostgresDatabase } from "../../support/postgres-database.ts";
import { withDatabase } from "../../support/with-servers.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { a, at, b, net, openForEachTest } from "./ownership-world.ts";

await withDatabase(describeRemoteInputs);

function describeRemoteInputs(database: PostgresDatabase): void {
  openForEachTest(database);

  /** A running session at `a`. */
  async function begin(): Promise<PlayedIsland> {
    const image = { image: "docker.io/atoll/shell:1", digest: null, command: null, gpu: false, network: false };
    for (const { world } of net.members) {
      const { catalog } = world;
      const entry = { ...catalog.get("cheap"), runtimeType: "container" as const, model: null, isChat: false };
      const container = { ...image, interactive: true };
      catalog.replace([...catalog.list(), { ...entry, slug: "session", container }]);
    }
    const runtimes = [{ type: "container" as const, version: "1" }];
    const island = await PlayedIsland.join(at(a).world, net.accountId, { runtimes, features: ["jobs.input"] });
    const jobId = await net.submit(at(a), { slug: "session", input: {} });
    await expect.poll(() => island.last("assign")?.jobId).toBe(jobId);
    await island.say(...beginFrames(island.assign));
    return island;
  }
  const send = ({ assign }: PlayedIsland, line: string | null, seq?: number) =>
    at(b).world.jobs.sendInput(net.accountId, assign.jobId, { line, seq });

  describe("input of a job of another coordinator", () => {
    it("is handed on to it, and its answer comes back, with what it refuses", async () => {
      const island = await begin();
      const { jobId, attempt } = island.assign;
      const sent = send(island, "1", 1);
      await expect.poll(() => island.last("input")).toMatchObject({ jobId, seq: 1, line: "1" });
      await island.say({ type: "taken", jobId, attempt, upTo: 1 });
      expect(await sent).toEqual({ seq: 1, isTaken: true, isRepeat: false, waitingBytes: 0 });
      expect(await send(island, "1", 1)).toMatchObject({ isRepeat: true });
      await expect(send(island, "9", 9)).rejects.toMatchObject({ code: "input_out_of_order" });
      await expect(at(b).world.jobs.sendInput("user_other", jobId, { line: "1" })).rejects.toMatchObject({
        code: "not_found",
      });
      const line = "1".repeat(262_144);
      // Requests at the same time may overtake one another: who is too early tries again.
      const inOrder = async (text: string, seq: number): ReturnType<typeof send> => {
        for (;;) {
          const answer = await send(island, text, seq).catch((error: { code?: string }) => error);
          if (!("code" in answer)) return answer as Awaited<ReturnType<typeof send>>;
          if (answer.code !== "input_out_of_order") throw answer;
        }
      };
      const many = [2, 3, 4, 5].map((seq) => inOrder(line, seq));
      await expect.poll(() => island.last("input")?.seq).toBe(3);
      await expect(inOrder("1", 6)).rejects.toMatchObject({ code: "rate_limited", retryAfterS: 1 });
      net.clock.advance(2_000);
      expect(await Promise.all(many)).toMatchObject(Array.from({ length: 4 }, () => ({ isTaken: false })));
      await island.say(finishedFrame(island.assign, 1, { output: "bye" }));
      await expect(send(island, "2", 2)).rejects.toMatchObject({
        code: "job_not_running",
        message: "The job is completed already",
      });
    });
  });
}
