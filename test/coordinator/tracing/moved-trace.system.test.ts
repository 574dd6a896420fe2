import { randomBytes, randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import type { NatsServer } from "../../support/servers/nats-server.ts";
import { OtlpServer } from "../../support/servers/otlp-server.ts";
import type { PostgresServer } from "../../support/servers/postgres-server.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { withNats, withPostgres } from "../../support/servers/with-servers.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN = "00f067aa0ba902b7";

await withNats((bus) => withPostgres((server) => describeMove(bus, server)));

function describeMove(bus: NatsServer, server: PostgresServer): void {
  it("a job that runs on another coordinator's Island has one trace, within that of its client", async () => {
    await using collector = await OtlpServer.start();
    const place = { address: await server.createDatabase("traces"), key: randomBytes(32) };
    const settings = { bus: bus.address, tracesUrl: collector.url, tracesShare: 0 };
    await using first = await TestCoordinator.open(settings, {}, place);
    await using second = await TestCoordinator.open(settings, {}, place);
    const { key, islandToken } = await first.createAccount("traces@example.org");
    await using island = await FakeIsland.join(second.url, islandToken, { hostId: randomUUID() });
    const job = { workload: "tiny-chat", input: { prompt: "Hi" } };
    await call(first.url, key, "POST", "/jobs", job, { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01` });
    const assign = await island.next("assign");
    island.send(...runFrames(assign, "a"));
    await island.next("ack", ({ jobId }) => jobId === assign.jobId);
    await second.stop();
    await first.stop();

    const { spans } = collector;
    const of = (name: string, parent?: string) =>
      spans.filter((span) => span.name === name && span.parentSpanId === parent);
    const [atFirst] = of("job", CLIENT_SPAN);
    expect(atFirst?.attributes).toMatchObject({ "atoll.job.id": assign.jobId, "atoll.moved": true });
    const [atSecond] = of("job", atFirst?.spanId);
    expect(atSecond?.attributes).toMatchObject({ "atoll.job.id": assign.jobId, "atoll.state": "completed" });
    expect([of("queue", atSecond?.spanId), of("attempt", atSecond?.spanId)].map(({ length }) => length)).toEqual([
      1, 1,
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  });
}
