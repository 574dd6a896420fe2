import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { answerTakes, handOverWaiting, type HandOverDeps } from "../../../coordinator/cluster/orderly-leave.ts";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";

const peer = (id: string) => ({ id, address: `http://${id}`, version: "1" });
const log = { info: () => undefined, warn: () => undefined };

function leaving(bus: LocalBus, count: number, living: readonly string[], freest?: string) {
  const jobs = Array.from({ length: count }, (_, index) => ({ id: `job_${index}`, state: "pending" }));
  const running = { id: "job_running", state: "running" };
  const given: [number, string][] = [];
  const stop = new AbortController();
  const deps: HandOverDeps = {
    members: { self: peer("a"), living: living.map(peer), onChange: () => () => undefined },
    mover: {
      handOver: async (ids, toId) => {
        given.push([ids.length, toId]);
        return [...ids];
      },
    },
    jobs: { list: () => [running, ...jobs] as unknown as Iterable<ActiveJob> },
    bus,
    freestPeer: () => (freest === undefined ? undefined : peer(freest)),
    signal: stop.signal,
    log,
  };
  return { deps, given, stop };
}

describe("handOverWaiting()", () => {
  it("gives all waiting jobs to the freest peer, in parts, and tells it", async () => {
    const bus = new LocalBus();
    const taken: number[] = [];
    answerTakes(bus, "c", { takeIn: async ({ length }) => taken.push(length) });
    const { deps, given } = leaving(bus, 1_200, ["a", "b", "c"], "c");
    expect(await handOverWaiting(deps)).toBe(1_200);
    expect(given).toEqual([500, 500, 200].map((count) => [count, "c"]));
    expect(taken).toEqual([500, 500, 200]);
  });

  it("gives nothing where nobody else lives", async () => {
    const { deps, given } = leaving(new LocalBus(), 3, ["a"]);
    expect(await handOverWaiting(deps)).toBe(0);
    expect(given).toEqual([]);
  });

  it("keeps the rest when its time is over, while storage does not answer", async () => {
    const { deps, stop } = leaving(new LocalBus(), 3, ["a", "b"]);
    const left = handOverWaiting({ ...deps, mover: { handOver: () => new Promise(() => undefined) } });
    stop.abort();
    expect(await left).toBe(0);
  });

  it("keeps the rest when a peer does not answer", async () => {
    const { deps, given } = leaving(new LocalBus(), 1_200, ["a", "b"]);
    expect(await handOverWaiting(deps)).toBe(500);
    expect(given).toEqual([[500, "b"]]);
  });
});

describe("answerTakes()", () => {
  it("refuses a message without ids", async () => {
    const bus = new LocalBus();
    answerTakes(bus, "c", { takeIn: async () => 0 });
    await expect(bus.request("c.take", { ids: [] })).rejects.toMatchObject({ kind: "refused" });
  });
});
