import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { OtlpServer, type OtlpSpan } from "../../support/servers/otlp-server.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN = "00f067aa0ba902b7";
const PROMPT = "a prompt that nobody else reads";

/** Returns the names of spans with those of their children, in the order in which they started. */
function tree(spans: readonly OtlpSpan[], parent: string): unknown[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))
    .map(({ name, spanId }) => {
      const children = tree(spans, spanId);
      return children.length === 0 ? name : [name, ...children];
    });
}

it("a job has a trace with submission, wait, attempts, first output and end, within the client's trace", async () => {
  await using collector = await OtlpServer.start();
  await using coordinator = await TestCoordinator.open({ tracesUrl: collector.url, tracesShare: 0 });
  const { id, key, islandToken } = await coordinator.createAccount("client@example.com");
  const submit = (traceparent?: string) =>
    call(
      coordinator.url,
      key,
      "POST",
      "/jobs",
      { workload: "tiny-chat", input: { prompt: PROMPT } },
      traceparent === undefined ? {} : { traceparent },
    );
  await submit(`00-${TRACE}-${CLIENT_SPAN}-01`);
  const hostId = randomUUID();
  await using island = await FakeIsland.join(coordinator.url, islandToken, { hostId, slots: 1 });
  const first = await island.next("assign");
  const { jobId } = first;
  island.send({
    type: "failed",
    jobId,
    attempt: first.attempt,
    seq: 1,
    code: "out_of_memory",
    message: PROMPT,
    retryable: true,
  });
  const second = await island.next("assign");
  island.send(
    ...beginFrames(second),
    outputFrame(second, 1, "a"),
    outputFrame(second, 2, "b"),
    finishedFrame(second, 3),
  );
  await island.next("ack", ({ seq }) => seq === 3);
  // The client of this job sends no traceparent, and such traces are not sampled.
  await submit();
  await coordinator.stop();

  const { spans, requests } = collector;
  expect(tree(spans, CLIENT_SPAN)).toEqual([
    ["job", "submit", "queue", ["attempt", "first_output"], "queue", ["attempt", "first_output", "output"]],
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  const facts = (name: string) => spans.filter((span) => span.name === name).map(({ attributes }) => attributes);
  expect(facts("job")).toEqual([
    expect.objectContaining({
      "atoll.job.id": jobId,
      "atoll.account.id": id,
      "atoll.cargo": "tiny-chat",
      "atoll.state": "completed",
      "atoll.attempts": 2,
    }),
  ]);
  expect(facts("attempt")).toEqual([
    { "atoll.attempt": 1, "atoll.island.id": hostId, "error.type": "out_of_memory" },
    { "atoll.attempt": 2, "atoll.island.id": hostId },
  ]);
  expect(spans.map(({ status }) => status.code === 2).filter(Boolean)).toHaveLength(1);
  expect(requests[0]).toMatchObject({ path: "/v1/traces", resource: { "service.name": "atoll-coordinator" } });
  expect(JSON.stringify(collector)).not.toContain(PROMPT);
});

it("jobs run without a reachable collector, and a stop does not wait for it", async () => {
  await using coordinator = await TestCoordinator.open({ tracesUrl: "http://127.0.0.1:9" });
  const { key, islandToken } = await coordinator.createAccount("client@example.com");
  await using island = await FakeIsland.join(coordinator.url, islandToken, { hostId: randomUUID() });
  await call(coordinator.url, key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: PROMPT } });
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), outputFrame(assign, 1, "a"), finishedFrame(assign, 2));
  await island.next("ack", ({ seq }) => seq === 2);
  await coordinator.stop();
  expect(coordinator.fatal).toEqual([]);
});
