import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import type { NatsServer } from "../../support/servers/nats-server.ts";
import type { PostgresServer } from "../../support/servers/postgres-server.ts";
import { readSse } from "../../support/http/read-sse.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { withNats, withPostgres } from "../../support/servers/with-servers.ts";

await withNats((bus) => withPostgres((server) => describeAnywhere(bus, server)));

function describeAnywhere(bus: NatsServer, server: PostgresServer): void {
  it("a job submitted at one coordinator is read and streamed at another, even after the first has stopped", async () => {
    const place = { address: await server.createDatabase("anywhere"), key: randomBytes(32) };
    const open = () => TestCoordinator.open({ bus: bus.address }, {}, place);
    await using first = await open();
    await using second = await open();
    const { key, islandToken } = await first.createAccount("anywhere@example.org");
    const call = async (at: TestCoordinator, method: string, path: string, body?: unknown): Promise<Response> =>
      fetch(`${at.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const dataOf = async (response: Response): Promise<Record<string, unknown>> =>
      ((await response.json()) as { data: Record<string, unknown> }).data;
    await using island = await FakeIsland.join(first.url, islandToken);
    const input = { messages: [{ role: "user", content: "Hi" }] };
    const submit = async (at: TestCoordinator): Promise<string> =>
      String((await dataOf(await call(at, "POST", "/jobs", { workload: "tiny-chat", input })))["id"]);
    const id = await submit(first);
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), outputFrame(assign, 1, "one "));
    await expect
      .poll(async () => (await dataOf(await call(second, "GET", `/jobs/${id}/output`)))["output"])
      .toBe("one ");
    expect(await dataOf(await call(second, "GET", `/jobs/${id}`))).toMatchObject({ status: "running" });

    const stream = await call(second, "GET", `/jobs/${id}/stream`);
    const texts: string[] = [];
    const read = (async () => {
      for await (const { event, data } of readSse(stream)) {
        if (event === "token") texts.push((JSON.parse(data) as { content: string }).content);
        if (event === "done") texts.push(event);
      }
    })();
    await expect.poll(() => texts).toEqual(["one "]);
    island.send(outputFrame(assign, 2, "two "));
    await expect.poll(() => texts).toEqual(["one ", "two "]);

    // The first coordinator stops in an orderly way. Its Island takes the job to the second, where the stream
    // continues.
    await first.stop();
    const { jobId, attempt, claim } = assign;
    const held = [{ jobId, attempt, claim, started: true }];
    await using again = await FakeIsland.join(second.url, islandToken, { held });
    again.send(outputFrame(assign, 2, "two "), outputFrame(assign, 3, "three"));
    again.send(finishedFrame(assign, 4, { completionTokens: 3 }));
    await read;
    expect(texts).toEqual(["one ", "two ", "three", "done"]);
    const metrics = await (await fetch(`${second.url}/api/v1/metrics`)).text();
    expect(metrics).toMatch(/^atoll_jobs_moved_here_total\{how="(adopted|claimed)"\} 1$/m);
    expect(second.fatal).toEqual([]);
  });
}
