import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OfferedIsland, type SlotOffer, workKeyOf } from "../../../coordinator/scheduler/slot-offer.ts";
import type { WaitingWork } from "../../../coordinator/scheduler/shared-work.ts";
import type { WorkKind } from "../../../coordinator/scheduler/events.ts";
import { soakRounds } from "../../support/soak-rounds.ts";
import { Bench, GB, makeCargo } from "./builders.ts";
import { events } from "./random-events.ts";
import { replay } from "./replay.ts";

const LLAMA: WorkKind = { slug: "llama", onlyIslandsOf: null };
const GEMMA: WorkKind = { slug: "gemma", onlyIslandsOf: null };
const cargos = [makeCargo(), makeCargo({ slug: "gemma" })];

function makeOffer(islands: readonly Partial<OfferedIsland>[], kinds: readonly WorkKind[] = [LLAMA]): SlotOffer {
  const serves = kinds.map((_, index) => index);
  return {
    kinds,
    islands: islands.map((each, index) => ({ id: `far-${index}`, accountId: "far", slots: 1, serves, ...each })),
  };
}

describe("SharedWork.waiting()", () => {
  it("counts the jobs of a kind over all classes and avoided Islands", () => {
    const bench = new Bench(cargos);
    bench.up({ slots: 3 }, 3);
    bench.submit({ id: "job_1" });
    bench.submit({ id: "job_2", jobClass: "chat" });
    bench.submit({ id: "job_3", avoidIslands: ["isle-1"] });
    bench.submit({ id: "job_4", onlyIslandsOf: "user_1" });
    bench.submit({ id: "job_5", slug: "unknown" });
    bench.submit({ id: "job_6", features: ["chat.tools"] });
    expect(bench.scheduler.shared.waiting()).toEqual([
      { ...LLAMA, jobs: 3, pressing: 3, slots: 3 },
      { slug: "llama", onlyIslandsOf: "user_1", jobs: 1, pressing: 1, slots: 0 },
      { slug: "unknown", onlyIslandsOf: null, jobs: 1, pressing: 1, slots: 0 },
      { ...LLAMA, features: ["chat.tools"], jobs: 1, pressing: 1, slots: 0 },
    ]);
    expect(bench.scheduler.shared.loadOf(LLAMA)).toEqual({ ...LLAMA, jobs: 3, pressing: 3, slots: 3 });
  });

  it("counts at most ten jobs of an account as pressing", () => {
    const bench = new Bench();
    for (let job = 0; job < 25; job += 1) bench.submit({ id: `job_${job}`, accountId: job < 20 ? "many" : "few" });
    expect(bench.scheduler.shared.loadOf(LLAMA)).toMatchObject({ jobs: 25, pressing: 15 });
    for (let job = 0; job < 12; job += 1) bench.cancel(`job_${job}`);
    expect(bench.scheduler.shared.loadOf(LLAMA)).toMatchObject({ jobs: 13, pressing: 13 });
  });

  it("matches the reference implementation over random events", () => {
    const check = fc.property(events, (list) => {
      const { real, naive } = replay(list, () => undefined);
      // A job for which a slot here is reserved is not for other coordinators.
      const offered = [...naive.waiting.values()].filter(({ id }) => real.heldFor(id) === null);
      for (const { jobs, slots, ...kind } of real.shared.waiting()) {
        const waiting = offered.filter((job) => {
          return workKeyOf(job) === workKeyOf(kind);
        });
        expect(jobs).toBe(waiting.length);
        const [job] = waiting;
        const slotsOfEach = job === undefined ? [] : naive.fitting(job).map((island) => naive.slotsOf(island, job));
        expect(slots).toBe(slotsOfEach.reduce((sum, each) => sum + each, 0));
      }
      const sum = real.shared.waiting().reduce((total, { jobs }) => total + jobs, 0);
      expect(sum).toBe(offered.length);
    });
    fc.assert(check, { numRuns: soakRounds(100) });
  });
});

describe("SharedWork.takeFor()", () => {
  it("takes no job for an Island without the job's features, which an older coordinator does not report", () => {
    const bench = new Bench();
    const TOOLS: WorkKind = { ...LLAMA, features: ["chat.tools"] };
    bench.submit({ id: "job_1", features: ["chat.tools"] });
    const { shared } = bench.scheduler;
    expect(shared.takeFor(makeOffer([{}]), 100)).toEqual([]);
    expect(shared.takeNext(LLAMA, 100)).toEqual([]);
    expect(shared.takeFor(makeOffer([{}], [TOOLS]), 100)).toEqual(["job_1"]);
    const other = new Bench();
    other.up({ id: "isle-1" });
    other.up({ id: "isle-2", features: ["chat.tools"] });
    const offer = other.scheduler.shared.offer([{ ...TOOLS, jobs: 1 }], {
      maxSlots: 9,
      maxIslands: 9,
      except: new Set(),
    });
    expect([offer.kinds, offer.islands.map(({ id }) => id)]).toEqual([[TOOLS], ["isle-2"]]);
  });

  it("takes jobs in fair order, as many as there are slots, and they no longer wait", () => {
    const bench = new Bench();
    for (const accountId of ["a", "b"]) {
      for (const number of [1, 2, 3]) bench.submit({ id: `${accountId}${number}`, accountId });
    }
    const { shared } = bench.scheduler;
    expect(shared.takeFor(makeOffer([{ slots: 2 }, { slots: 1 }]), 100)).toEqual(["a1", "b1", "a2"]);
    expect(shared.loadOf(LLAMA).jobs).toBe(3);
    expect(shared.takeFor(makeOffer([{ slots: 5 }]), 1)).toEqual(["b2"]);
    expect([...bench.up(), ...bench.drain()]).toEqual(["a3 on isle-1", "b3"]);
  });

  it("charges the accounts, so that an account whose job runs elsewhere is not next here", () => {
    const bench = new Bench();
    bench.submit({ id: "a1", accountId: "a" });
    bench.submit({ id: "a2", accountId: "a" });
    bench.submit({ id: "b1", accountId: "b" });
    expect(bench.scheduler.shared.takeFor(makeOffer([{}]), 100)).toEqual(["a1"]);
    expect(bench.up()).toEqual(["b1 on isle-1"]);
  });

  it("takes only jobs that the slots serve, and first uses slots that serve few kinds", () => {
    const bench = new Bench(cargos);
    bench.submit({ id: "llama_1", priority: 100 });
    bench.submit({ id: "gemma_1", slug: "gemma" });
    bench.submit({ id: "gemma_2", slug: "gemma" });
    const { shared } = bench.scheduler;
    const offer = makeOffer([{ serves: [0, 1] }, { serves: [0] }], [LLAMA, GEMMA]);
    expect(shared.takeFor(offer, 100)).toEqual(["llama_1", "gemma_1"]);
    expect(shared.takeFor(makeOffer([{}], [{ slug: "llama", onlyIslandsOf: "user_1" }]), 100)).toEqual([]);
  });

  it("skips jobs that avoid the Island by id or account, and takes the next ones", () => {
    const bench = new Bench();
    bench.up({}, 1);
    const far = { avoidIslands: ["far-0"], avoidAccounts: new Set(["bad"]) };
    bench.submit({ id: "job_1", priority: 100, ...far });
    bench.submit({ id: "job_2" });
    const { shared } = bench.scheduler;
    expect(shared.takeFor(makeOffer([{}]), 100)).toEqual(["job_2"]);
    expect(shared.takeFor(makeOffer([{ id: "far-1", accountId: "bad" }]), 100)).toEqual([]);
    expect(shared.loadOf(LLAMA).jobs).toBe(1);
    expect(shared.takeFor(makeOffer([{ id: "far-1" }]), 100)).toEqual(["job_1"]);
  });

  it("gives a job to an Island that it avoids if no other is worth waiting for", () => {
    const bench = new Bench();
    bench.submit({ avoidIslands: ["far-0"] });
    expect(bench.scheduler.shared.takeFor(makeOffer([{}]), 100)).toEqual(["job_1"]);
  });
});

describe("a job that was taken for another coordinator", () => {
  it("gets no slot here until job_stays", () => {
    const bench = new Bench();
    bench.submit({ avoidIslands: ["isle-2"] });
    expect(bench.scheduler.shared.takeFor(makeOffer([{}]), 100)).toEqual(["job_1"]);
    expect([...bench.up(), ...bench.up({ id: "isle-2" })]).toEqual([]);
    expect(bench.step({ kind: "job_stays", jobId: "job_1" })).toEqual(["job_1 on isle-1"]);
    expect(bench.step({ kind: "job_stays", jobId: "job_1" })).toEqual([]);
  });

  it("is gone after it moved, and is queued again if it waits again", () => {
    const bench = new Bench();
    bench.submit({ id: "job_1" });
    bench.submit({ id: "job_2" });
    expect(bench.scheduler.shared.takeFor(makeOffer([{ slots: 2 }]), 100)).toEqual(["job_1", "job_2"]);
    bench.cancel("job_1");
    bench.submit({ id: "job_2" });
    expect(bench.scheduler.waitingCount).toBe(1);
    for (const jobId of ["job_1", "job_2"]) bench.step({ kind: "job_stays", jobId });
    expect([...bench.up(), ...bench.drain()]).toEqual(["job_2 on isle-1"]);
  });
});

describe("SharedWork.offer()", () => {
  it("offers no more slots than an engine's model has", () => {
    const bench = new Bench();
    const facts = { features: [], contextTokens: null, parameters: null, quantization: null };
    bench.up({ slots: 8, engineModels: [{ key: "hf:owner/repo", slots: 2, ...facts }] });
    const limits = { maxSlots: 100, maxIslands: 10, except: new Set<string>() };
    const { islands } = bench.scheduler.shared.offer([{ ...LLAMA, jobs: 5 }], limits);
    expect(islands).toMatchObject([{ id: "isle-1", slots: 2 }]);
    expect(bench.scheduler.shared.slotsFor(LLAMA)).toBe(2);
  });
});

describe("SharedWork.takeNext()", () => {
  it("takes jobs of the kind in fair order", () => {
    const bench = new Bench(cargos);
    bench.submit({ id: "other", slug: "gemma" });
    for (const id of ["a1", "a2", "b1"]) bench.submit({ id, accountId: id.slice(0, 1) });
    expect(bench.scheduler.shared.takeNext(LLAMA, 2)).toEqual(["a1", "b1"]);
    expect(bench.scheduler.shared.takeNext(LLAMA, 5)).toEqual(["a2"]);
    expect(bench.scheduler.shared.loadOf(LLAMA).jobs).toBe(0);
  });
});

/** Returns jobs of a kind that wait elsewhere. */
const waiting = (kind: WorkKind, jobs: number): WaitingWork => ({ ...kind, jobs });

const ROOM = { maxSlots: 10, maxIslands: 10, except: new Set<string>() };

describe("SharedWork.offer()", () => {
  it("returns the best Islands with free slots, and which kinds each serves now", () => {
    const bench = new Bench([makeCargo(), makeCargo({ slug: "gemma", requiredRamBytes: 32 * GB })]);
    bench.up({ id: "isle-1", slots: 2 }, 1);
    bench.up({ id: "isle-2", ramBytes: 64 * GB, loaded: ["llama"] });
    bench.up({ id: "isle-3", slots: 1 }, 1);
    bench.up({ id: "isle-4", draining: true });
    const { shared } = bench.scheduler;
    const second = { id: "isle-2", accountId: "owner_1", slots: 1, serves: [0, 1] };
    expect(shared.offer([waiting(LLAMA, 10), waiting(GEMMA, 10)], ROOM)).toEqual({
      kinds: [LLAMA, GEMMA],
      islands: [second, { id: "isle-1", accountId: "owner_1", slots: 1, serves: [0] }],
    });
    expect(shared.offer([waiting(LLAMA, 1)], { ...ROOM, maxSlots: 1 }).islands).toEqual([{ ...second, serves: [0] }]);
    const except = new Set(["isle-2"]);
    expect(shared.offer([waiting(LLAMA, 1)], { ...ROOM, except }).islands).toMatchObject([{ id: "isle-1" }]);
    expect(shared.offer([waiting(LLAMA, 10)], { ...ROOM, maxIslands: 1 }).islands).toHaveLength(1);
    expect(shared.freeSlots).toBe(2);
    expect(shared.costFor(LLAMA)).toBeGreaterThan(0);
    expect(shared.costFor({ slug: "unknown", onlyIslandsOf: null })).toBeNull();
    expect(bench.submit()).toEqual(["job_1 on isle-2"]);
  });

  it("gives each kind a part of the Islands in proportion to its jobs", () => {
    const bench = new Bench([makeCargo({ requiredRamBytes: 32 * GB }), makeCargo({ slug: "gemma" })]);
    for (let i = 0; i < 12; i += 1)
      bench.up({ id: `isle-${i}`, ramBytes: i < 6 ? 64 * GB : 16 * GB, loaded: [i < 6 ? "llama" : "gemma"] });
    const { islands } = bench.scheduler.shared.offer([waiting(LLAMA, 30), waiting(GEMMA, 10)], {
      ...ROOM,
      maxIslands: 8,
    });
    expect(islands.filter(({ serves }) => serves.includes(0))).toHaveLength(6);
    expect(islands.filter(({ serves }) => !serves.includes(0))).toHaveLength(2);
  });

  it("leaves out Cargos whose circuit breaker on the Island is open", () => {
    const bench = new Bench(cargos);
    bench.up();
    bench.fail("isle-1");
    const { shared } = bench.scheduler;
    expect(shared.offer([waiting(LLAMA, 10), waiting(GEMMA, 10)], ROOM).islands).toMatchObject([{ serves: [1] }]);
    expect(shared.costFor(LLAMA)).toBeNull();
    expect(shared.slotsFor(LLAMA)).toBe(0);
  });
});

describe("SharedWork.outlookFor()", () => {
  const big = makeCargo({ requiredVramBytes: 45 * GB });
  const LACKING = { is: "lacking", message: "1 Island offers llmcpp, but it lacks 45.0 GiB of VRAM" };
  const outlookOf = ({ scheduler, nowMs }: Bench, kind = LLAMA) => scheduler.shared.outlookFor(kind, nowMs - 15_000);

  it("distinguishes Islands that lack something from no Islands", () => {
    const bench = new Bench([big]);
    expect(outlookOf(bench)).toEqual({ is: "absent" });
    bench.up();
    expect(outlookOf(bench)).toEqual(LACKING);
    expect(outlookOf(bench, { slug: "llama", onlyIslandsOf: "user_1" })).toEqual({ is: "absent" });
    expect(outlookOf(bench, { slug: "unknown", onlyIslandsOf: null })).toEqual({ is: "absent" });
  });

  it("returns possible while an Island fits, even if it is busy or draining", () => {
    const bench = new Bench([big]);
    bench.up({ vramBytes: 48 * GB }, 1);
    expect(outlookOf(bench)).toEqual({ is: "possible" });
    bench.change({ vramBytes: 48 * GB, draining: true });
    expect(outlookOf(bench)).toEqual({ is: "possible" });
    bench.change();
    expect(outlookOf(bench)).toEqual(LACKING);
  });

  it("returns possible while a fitting Island may return", () => {
    const bench = new Bench([big]);
    bench.up();
    bench.up({ id: "isle-2", vramBytes: 48 * GB });
    bench.down("isle-2");
    bench.up({ id: "isle-3" });
    bench.down("isle-3");
    expect(outlookOf(bench)).toEqual({ is: "possible" });
    bench.pass(15_001);
    expect(outlookOf(bench)).toEqual(LACKING);
    bench.up({ id: "isle-2", vramBytes: 48 * GB });
    bench.down("isle-2");
    bench.up({ id: "isle-2" });
    expect(outlookOf(bench)).toMatchObject({
      is: "lacking",
      message: "2 Islands offer llmcpp, but none has 45.0 GiB of VRAM",
    });
  });
});
