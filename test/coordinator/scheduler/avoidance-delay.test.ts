import { describe, expect, it } from "vitest";
import { AVOIDANCE_DELAY_MS } from "../../../coordinator/scheduler/waiting-jobs.ts";
import type { SlotOffer } from "../../../coordinator/scheduler/slot-offer.ts";
import { Bench } from "./builders.ts";

const LLAMA = { slug: "llama", onlyIslandsOf: null };
const AVOIDING = { avoidIslands: ["isle-1"] };

/** A slot of the Island isle-1, which is now at another coordinator. */
const AVOIDED_SLOT: SlotOffer = {
  kinds: [LLAMA],
  islands: [{ id: "isle-1", accountId: "owner_1", slots: 1, serves: [0] }],
};

/** Opens a coordinator in a cluster in which others may have Islands for llama. */
function openBeside(): Bench {
  return new Bench(undefined, { mayRunElsewhere: ({ slug }) => slug === "llama" });
}

describe("the avoidance delay of a job that avoids the only free Island", () => {
  it("does not apply without other coordinators", () => {
    const bench = new Bench();
    bench.up();
    expect(bench.submit(AVOIDING)).toEqual(["job_1 on isle-1"]);
    expect(bench.scheduler.nextWakeMs).toBeNull();
  });

  it("lasts while another coordinator may have a better Island, then the job returns to the avoided one", () => {
    const bench = openBeside();
    bench.up();
    expect(bench.submit(AVOIDING)).toEqual([]);
    expect(bench.scheduler.nextWakeMs).toBe(AVOIDANCE_DELAY_MS);
    expect(bench.pass(AVOIDANCE_DELAY_MS - 1)).toEqual([]);
    expect(bench.pass(1)).toEqual(["job_1 on isle-1"]);
    expect(bench.scheduler.nextWakeMs).toBeNull();
  });

  it("applies to avoided accounts if their Island arrives later", () => {
    const bench = openBeside();
    bench.submit({ avoidAccounts: new Set(["owner_1"]) });
    bench.submit({ ...AVOIDING, avoidAccounts: new Set(["owner_1"]) });
    expect(bench.up()).toEqual([]);
    expect(bench.pass(AVOIDANCE_DELAY_MS)).toEqual(["job_1 on isle-1"]);
  });

  it("does not restart when the job is submitted again", () => {
    const bench = openBeside();
    bench.up();
    bench.submit(AVOIDING);
    bench.pass(AVOIDANCE_DELAY_MS - 1);
    expect(bench.submit(AVOIDING)).toEqual([]);
    expect(bench.pass(1)).toEqual(["job_1 on isle-1"]);
  });

  it("ends when another Island arrives, and does not hold up jobs that avoid nothing", () => {
    const bench = openBeside();
    bench.up();
    bench.submit(AVOIDING);
    expect(bench.submit({ id: "job_2" })).toEqual(["job_2 on isle-1"]);
    expect(bench.up({ id: "isle-2" })).toEqual(["job_1 on isle-2"]);
    expect(bench.scheduler.nextWakeMs).toBeNull();
    expect(bench.scheduler.waitingCount).toBe(0);
  });

  it("does not apply to Cargos that no other coordinator runs", () => {
    const bench = new Bench(undefined, { mayRunElsewhere: () => false });
    bench.up();
    expect(bench.submit(AVOIDING)).toEqual(["job_1 on isle-1"]);
  });

  it("must pass before the job goes to an avoided Island of another coordinator", () => {
    const bench = openBeside();
    bench.up({}, 1);
    bench.submit(AVOIDING);
    const { shared } = bench.scheduler;
    expect(shared.takeFor(AVOIDED_SLOT, 10)).toEqual([]);
    bench.pass(AVOIDANCE_DELAY_MS);
    expect(shared.takeFor(AVOIDED_SLOT, 10)).toEqual(["job_1"]);
  });

  it("ends correctly while the job is set aside", () => {
    const bench = openBeside();
    bench.up();
    bench.submit(AVOIDING);
    const offer = { kinds: [LLAMA], islands: [{ id: "far", accountId: "far", slots: 1, serves: [0] }] };
    expect(bench.scheduler.shared.takeFor(offer, 10)).toEqual(["job_1"]);
    expect(bench.pass(AVOIDANCE_DELAY_MS)).toEqual([]);
    expect(bench.step({ kind: "job_stays", jobId: "job_1" })).toEqual(["job_1 on isle-1"]);
  });
});
