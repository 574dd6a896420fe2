import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { transferWaiting } from "../../../coordinator/cluster/cluster-member.ts";
import { MESSAGES } from "../../../coordinator/cluster/messages.ts";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import { peerOf, peersOn } from "./peers-on.ts";

const log = { info: () => undefined, warn: () => undefined };

function leaving(bus: LocalBus, count: number, live: readonly string[], freest?: string) {
  const jobs = Array.from({ length: count }, (_, index) => ({ id: `job_${index}`, state: "pending" }));
  const running = { id: "job_running", state: "running" };
  const given: [number, string][] = [];
  const stop = new AbortController();
  const own = {
    transfer: async (ids: readonly string[], toId: string) => {
      given.push([ids.length, toId]);
      return [...ids];
    },
  };
  const transfer = (mover = own): Promise<number> =>
    transferWaiting(
      peersOn(bus, "a", live),
      mover,
      { list: () => [running, ...jobs] as unknown as Iterable<ActiveJob> },
      freest === undefined ? undefined : peerOf(freest),
      stop.signal,
      log,
    );
  return { transfer, given, stop };
}

describe("transferWaiting()", () => {
  it("transfers all waiting jobs in parts to the peer with the most free slots, and announces them", async () => {
    const bus = new LocalBus();
    const taken: number[] = [];
    peersOn(bus, "c").handle(MESSAGES.take, ({ jobIds }) => {
      taken.push(jobIds.length);
      return null;
    });
    const { transfer, given } = leaving(bus, 1_200, ["a", "b", "c"], "c");
    expect(await transfer()).toBe(1_200);
    expect(given).toEqual([500, 500, 200].map((count) => [count, "c"]));
    expect(taken).toEqual([500, 500, 200]);
  });

  it("transfers nothing if there is no live peer", async () => {
    const { transfer, given } = leaving(new LocalBus(), 3, ["a"]);
    expect(await transfer()).toBe(0);
    expect(given).toEqual([]);
  });

  it("keeps the rest if storage does not reply in time", async () => {
    const { transfer, stop } = leaving(new LocalBus(), 3, ["a", "b"]);
    const left = transfer({ transfer: () => new Promise(() => undefined) });
    stop.abort();
    expect(await left).toBe(0);
  });

  it("keeps the rest if a peer does not reply", async () => {
    const { transfer, given } = leaving(new LocalBus(), 1_200, ["a", "b"]);
    expect(await transfer()).toBe(500);
    expect(given).toEqual([[500, "b"]]);
  });
});
