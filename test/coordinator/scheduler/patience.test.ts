import { describe, expect, it } from "vitest";
import { AVOIDANCE_DELAY_MS } from "../../../coordinator/scheduler/waiting-jobs.ts";
import type { SlotOffer } from "../../../coordinator/scheduler/shared-work.ts";
import { Bench } from "./builders.ts";

const LLAMA = { slug: "llama", onlyIslandsOf: null };
const AVOIDING = { avoidIslands: ["isle-1"] };

/** A slot of Island isle-1, at another coordinator by now. */
const AVOIDED_SLOT: SlotOffer = {
  kinds: [LLAMA],
  islands: [{ id: "isle-1", accountId: "owner_1", slots: 1, serves: [0] }],
};

/** A coordinator beside others that may have Islands for llama. */
function openBeside(): Bench {
  return new Bench(undefined, { mayRunElsewhere: ({ slug }) => slug === "llama" });
}

describe("a job that avoids the only free Island", () => {
  it("goes back to it at once where there is no other coordinator", () => {
    const bench = new Bench();
    bench.up();
    expect(bench.submit(AVOIDING)).toEqual(["job_1 on isle-1"]);
    expect(bench.scheduler.nextWakeMs).toBeNull();
  });

  it("waits for others while another coordinator may have a better one, then goes back", () => {
    const bench = openBeside();
    bench.up();
    expect(bench.submit(AVOIDING)).toEqual([]);
    expect(bench.scheduler.nextWakeMs).toBe(AVOIDANCE_DELAY_MS);
    expect(bench.pass(AVOIDANCE_DELAY_MS - 1)).toEqual([]);
    expect(bench.pass(1)).toEqual(["job_1 on isle-1"]);
    expect(bench.scheduler.nextWakeMs).toBeNull();
  });

  it("waits by account too, when the Island comes later", () => {
    const bench = openBeside();
    bench.submit({ avoidAccounts: new Set(["owner_1"]) });
    bench.submit({ ...AVOIDING, avoidAccounts: new Set(["owner_1"]) });
    expect(bench.up()).toEqual([]);
    expect(bench.pass(AVOIDANCE_DELAY_MS)).toEqual(["job_1 on isle-1"]);
  });

  it("does not begin to wait anew when it is told again", () => {
    const bench = openBeside();
    bench.up();
    bench.submit(AVOIDING);
    bench.pass(AVOIDANCE_DELAY_MS - 1);
    expect(bench.submit(AVOIDING)).toEqual([]);
    expect(bench.pass(1)).toEqual(["job_1 on isle-1"]);
  });

  it("gets another Island that comes meanwhile, and so do jobs that avoid nothing", () => {
    const bench = openBeside();
    bench.up();
    bench.submit(AVOIDING);
    expect(bench.submit({ id: "job_2" })).toEqual(["job_2 on isle-1"]);
    expect(bench.up({ id: "isle-2" })).toEqual(["job_1 on isle-2"]);
    expect(bench.scheduler.nextWakeMs).toBeNull();
    expect(bench.scheduler.waitingCount).toBe(0);
  });

  it("does not wait for Cargos that nobody else runs", () => {
    const bench = new Bench(undefined, { mayRunElsewhere: () => false });
    bench.up();
    expect(bench.submit(AVOIDING)).toEqual(["job_1 on isle-1"]);
  });

  it("is given to an Island elsewhere that it avoids only after it has waited", () => {
    const bench = openBeside();
    bench.up({}, 1);
    bench.submit(AVOIDING);
    const { shared } = bench.scheduler;
    expect(shared.takeFor(AVOIDED_SLOT, 10)).toEqual([]);
    bench.pass(AVOIDANCE_DELAY_MS);
    expect(shared.takeFor(AVOIDED_SLOT, 10)).toEqual(["job_1"]);
  });

  it("competes again as it should when it was set aside while its wait ended", () => {
    const bench = openBeside();
    bench.up();
    bench.submit(AVOIDING);
    const offer = { kinds: [LLAMA], islands: [{ id: "far", accountId: "far", slots: 1, serves: [0] }] };
    expect(bench.scheduler.shared.takeFor(offer, 10)).toEqual(["job_1"]);
    expect(bench.pass(AVOIDANCE_DELAY_MS)).toEqual([]);
    expect(bench.step({ kind: "job_stays", jobId: "job_1" })).toEqual(["job_1 on isle-1"]);
  });
});
