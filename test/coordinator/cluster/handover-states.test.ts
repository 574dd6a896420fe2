import { expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { shareHandoverStates } from "../../../coordinator/cluster/moved-jobs.ts";
import type { HandoverState } from "../../../coordinator/jobs/active-job.ts";
import { peersOn } from "./peers-on.ts";

const error = { code: "invalid_input", message: "The Cargo cannot run this input", retryable: false } as const;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const handoverOf = (jobId: string): HandoverState => ({
  jobId,
  failedOn: [{ islandId: "isle-1", accountId: "user_1" }],
  final: { islandId: "isle-1", error },
});

it("shareHandoverStates() gives the handover state of a job to the receiver once", async () => {
  const bus = new LocalBus();
  const [one, two] = [shareHandoverStates(peersOn(bus, "c1")), shareHandoverStates(peersOn(bus, "c2"))];
  one.send("c2", [handoverOf("job_1")]);
  await settle();
  expect([one.take("job_1"), two.take("job_1"), two.take("job_1")]).toEqual([
    undefined,
    handoverOf("job_1"),
    undefined,
  ]);
});

it("shareHandoverStates() drops an invalid message", async () => {
  const bus = new LocalBus();
  const handoverStates = shareHandoverStates(peersOn(bus, "c1"));
  for (const message of [
    null,
    {},
    { handovers: [{ jobId: 7 }] },
    { handovers: [{ ...handoverOf("job_1"), final: "yes" }] },
  ])
    await expect(bus.request("c1.handovers", ["c2", message])).rejects.toMatchObject({ kind: "refused" });
  expect(handoverStates.take("job_1")).toBeUndefined();
});

it("shareHandoverStates() sends many states in several messages, and only the newest of many failures", async () => {
  const bus = new LocalBus();
  let messages = 0;
  const request = bus.request.bind(bus);
  bus.request = (...asked) => {
    messages += 1;
    return request(...asked);
  };
  const [one, two] = [shareHandoverStates(peersOn(bus, "c1")), shareHandoverStates(peersOn(bus, "c2"))];
  const failedOn = Array.from({ length: 120 }, (_, index) => ({ islandId: `isle-${index}`, accountId: "user_1" }));
  one.send(
    "c2",
    Array.from({ length: 501 }, (_, index) => ({ ...handoverOf(`job_${index}`), failedOn })),
  );
  await settle();
  expect([messages, two.take("job_500")?.failedOn]).toEqual([2, failedOn.slice(20)]);
});

it("shareHandoverStates() transfers a valid trace with its job", async () => {
  const bus = new LocalBus();
  const [one, two] = [shareHandoverStates(peersOn(bus, "c1")), shareHandoverStates(peersOn(bus, "c2"))];
  const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  one.send("c2", [
    { jobId: "job_1", failedOn: [], final: null, trace },
    { jobId: "job_2", failedOn: [], final: null, trace: "of another version" },
  ]);
  await settle();
  expect([two.take("job_1")?.trace, two.take("job_2")]).toEqual([
    trace,
    { jobId: "job_2", failedOn: [], final: null, trace: undefined },
  ]);
});
