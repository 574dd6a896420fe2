import { describe, expect, it } from "vitest";
import { Bench, GB, makeCargo, START_MS } from "./builders.ts";

const loadedLlama = { loaded: ["llama"] };
const cachedLlama = { cachedModels: ["hf:owner/repo"] };

describe("step() with a new job", () => {
  it("assigns the job to an Island with a free slot", () => {
    const bench = new Bench();
    bench.up();
    expect(bench.submit()).toEqual(["job_1 on isle-1"]);
    expect(bench.scheduler.freeSlots("isle-1")).toBe(0);
    expect(bench.scheduler.waitingCount).toBe(0);
  });

  it("queues the job while no Island fits", () => {
    const bench = new Bench([makeCargo({ requiredRamBytes: 32 * GB })]);
    bench.up();
    expect(bench.submit()).toEqual([]);
    expect(bench.scheduler.waitingCount).toBe(1);
  });

  it("gives an engine's model at most its slots, and the runtimes at most theirs", () => {
    const key = "a".repeat(64);
    const served = { key, features: [], contextTokens: null, parameters: null, quantization: null };
    const model = { url: "https://example.org/m", sha256: key, sizeBytes: null };
    const bench = new Bench([makeCargo(), makeCargo({ slug: "served", model })]);
    const island = { slots: 5, runtimeSlots: 2, engineModels: [{ ...served, slots: 1 }] };
    bench.up(island);
    const submit = (id: string, slug: string) => bench.submit({ id, slug });
    expect([submit("a", "served"), submit("b", "served")]).toEqual([["a on isle-1"], []]);
    expect([submit("c", "llama"), submit("d", "llama"), submit("e", "llama")].flat()).toEqual([
      "c on isle-1",
      "d on isle-1",
    ]);
    expect(bench.free("isle-1", "c")).toEqual(["e on isle-1"]);
    expect(bench.free("isle-1", "a")).toEqual(["b on isle-1"]);
    expect(submit("f", "served")).toEqual([]);
    expect(bench.change({ ...island, engineModels: [{ ...served, slots: 2 }] })).toEqual(["f on isle-1"]);
    expect(bench.scheduler.freeSlots("isle-1")).toBe(1);
  });

  it("replaces a waiting job with the same id", () => {
    const bench = new Bench();
    bench.submit({ priority: 10 });
    bench.submit({ priority: 90 });
    bench.submit({ id: "job_2", priority: 50 });
    expect(bench.up({ slots: 3 })).toEqual(["job_1 on isle-1", "job_2 on isle-1"]);
  });

  it("queues a job of a Cargo that the catalog does not have", () => {
    const bench = new Bench([]);
    bench.up();
    expect(bench.submit()).toEqual([]);
    expect(bench.free()).toEqual([]);
  });

  it("lets the job wait for a busy Island rather than use an idle one that it avoids", () => {
    const bench = new Bench();
    bench.up({ id: "isle-1", ...loadedLlama });
    bench.up({ id: "isle-2", ...loadedLlama });
    bench.up({ id: "isle-3" });
    const avoidIslands = ["isle-2", "isle-1"];
    expect(bench.submit({ id: "job_1", avoidIslands })).toEqual(["job_1 on isle-3"]);
    expect(bench.submit({ id: "job_2", avoidIslands })).toEqual([]);
    expect(bench.submit({ id: "job_3" })).toEqual(["job_3 on isle-1"]);
    expect(bench.free("isle-1")).toEqual([]);
    expect(bench.free("isle-3")).toEqual(["job_2 on isle-3"]);
  });

  it.each([
    ["leaves", (bench: Bench) => bench.down("isle-3")],
    ["drains", (bench: Bench) => bench.change({ id: "isle-3", draining: true })],
    ["fails", (bench: Bench) => bench.fail("isle-3")],
  ])("uses an Island that the job avoids as soon as the last other one %s", (_, leave) => {
    const bench = new Bench();
    bench.up({ id: "isle-1" });
    bench.up({ id: "isle-3" }, 1);
    expect(bench.submit({ avoidIslands: ["isle-1"] })).toEqual([]);
    expect(leave(bench)).toEqual(["job_1 on isle-1"]);
  });
});

describe("step() with a removed job", () => {
  it("removes the job from the queue", () => {
    const bench = new Bench();
    bench.submit({ id: "job_1" });
    bench.submit({ id: "job_2" });
    bench.cancel("job_1");
    expect(bench.up({ slots: 5 })).toEqual(["job_2 on isle-1"]);
  });

  it("ignores an unknown id and an assigned job", () => {
    const bench = new Bench();
    bench.up({ slots: 2 });
    bench.submit();
    expect(bench.cancel("job_1")).toEqual([]);
    expect(bench.cancel("job_9")).toEqual([]);
    expect(bench.scheduler.freeSlots("isle-1")).toBe(1);
  });
});

describe("step() with Islands", () => {
  it("fills the free slots of an Island that comes up", () => {
    const bench = new Bench();
    for (const id of ["job_1", "job_2", "job_3"]) bench.submit({ id });
    expect(bench.up({ slots: 3 }, 1)).toEqual(["job_1 on isle-1", "job_2 on isle-1"]);
  });

  it("treats a second island_up as a new session", () => {
    const bench = new Bench();
    bench.up({ slots: 4 }, 3);
    bench.up({ slots: 2 }, 1);
    expect(bench.scheduler.freeSlots("isle-1")).toBe(1);
  });

  it("assigns nothing to an offline Island, even after island_changed or slot_freed", () => {
    const bench = new Bench();
    bench.up();
    bench.down("isle-1");
    expect(bench.submit()).toEqual([]);
    expect(bench.change()).toEqual([]);
    expect(bench.free()).toEqual([]);
  });

  it("keeps slots in use over island_changed, even if the new limit is lower", () => {
    const bench = new Bench();
    bench.up({ slots: 3 });
    bench.submit({ id: "job_1" });
    bench.submit({ id: "job_2" });
    bench.change({ slots: 1 });
    expect(bench.submit({ id: "job_3" })).toEqual([]);
    expect(bench.free()).toEqual([]);
    expect(bench.free()).toEqual(["job_3 on isle-1"]);
  });

  it("gives a draining Island no job until draining ends", () => {
    const bench = new Bench();
    bench.up();
    bench.change({ draining: true });
    expect(bench.submit()).toEqual([]);
    expect(bench.change()).toEqual(["job_1 on isle-1"]);
  });

  it("adds no slot on slot_freed of an idle Island", () => {
    const bench = new Bench();
    bench.up();
    bench.free();
    expect(bench.scheduler.freeSlots("isle-1")).toBe(1);
  });

  it("retries waiting jobs when their Cargo changes", () => {
    const bench = new Bench([makeCargo({ requiredRamBytes: 32 * GB })]);
    bench.up();
    bench.submit();
    expect(bench.changeCargo(makeCargo({ requiredRamBytes: 8 * GB }))).toEqual(["job_1 on isle-1"]);
  });

  it("stops assigning when the Cargo's requirements grow", () => {
    const bench = new Bench();
    bench.up({ slots: 2 });
    bench.submit();
    bench.changeCargo(makeCargo({ requiredRamBytes: 32 * GB }));
    expect(bench.submit({ id: "job_2" })).toEqual([]);
  });
});

describe("step() with several free Islands", () => {
  it("prefers a model in memory to a model on disk, and a model on disk to no model", () => {
    const bench = new Bench();
    bench.up({ id: "isle-1" });
    bench.up({ id: "isle-2", ...cachedLlama });
    bench.up({ id: "isle-3", ...loadedLlama });
    expect(bench.submit({ id: "job_1" })).toEqual(["job_1 on isle-3"]);
    expect(bench.submit({ id: "job_2" })).toEqual(["job_2 on isle-2"]);
    expect(bench.submit({ id: "job_3" })).toEqual(["job_3 on isle-1"]);
  });
});

describe("step() with several waiting jobs", () => {
  it("starts the higher priority first", () => {
    const bench = new Bench();
    bench.submit({ id: "job_1", priority: 40 });
    bench.submit({ id: "job_2", priority: 60 });
    bench.up({}, 1);
    expect(bench.drain()).toEqual(["job_2", "job_1"]);
  });

  it("starts the account that is next in turn, regardless of the priority of others", () => {
    const bench = new Bench();
    for (const id of ["a1", "a2", "a3"]) bench.submit({ id, accountId: "user_a", priority: 100 });
    bench.submit({ id: "b1", accountId: "user_b", priority: 0 });
    bench.up({}, 1);
    expect(bench.drain()).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("lets accounts take turns over all Cargos", () => {
    const bench = new Bench([makeCargo(), makeCargo({ slug: "gemma" })]);
    bench.submit({ id: "a1", accountId: "user_a", createdAtMs: START_MS + 1 });
    bench.submit({ id: "a2", accountId: "user_a", createdAtMs: START_MS + 2, slug: "gemma" });
    bench.submit({ id: "b1", accountId: "user_b", createdAtMs: START_MS + 3, slug: "gemma" });
    bench.up({}, 1);
    expect(bench.drain()).toEqual(["a1", "b1", "a2"]);
  });

  it("counts turns taken before the account's jobs waited", () => {
    const bench = new Bench();
    bench.up();
    bench.submit({ id: "a1", accountId: "user_a" });
    bench.submit({ id: "a2", accountId: "user_a" });
    bench.submit({ id: "b1", accountId: "user_b" });
    expect(bench.drain()).toEqual(["b1", "a2"]);
  });

  it("charges the time of each attempt, even if the Island got the job again before it freed the first attempt", () => {
    const bench = new Bench();
    bench.up({ slots: 2 });
    bench.submit({ id: "a1", accountId: "user_a" });
    bench.submit({ id: "a1", accountId: "user_a" });
    bench.step({ kind: "slot_superseded", islandId: "isle-1", jobId: "a1" });
    expect(bench.submit({ id: "b1", accountId: "user_b" })).toEqual(["b1 on isle-1"]);
    bench.pass(50_000);
    bench.free("isle-1", "b1");
    bench.submit({ id: "c1", accountId: "user_c" });
    bench.pass(50_000);
    bench.submit({ id: "a2", accountId: "user_a" });
    bench.submit({ id: "b2", accountId: "user_b" });
    // Account a has used 100 s, and account b 50 s.
    expect(bench.free("isle-1", "a1")).toEqual(["b2 on isle-1"]);
  });

  it("starts a job of a loaded Cargo first if the next account was not yet passed over", () => {
    const bench = new Bench([makeCargo(), makeCargo({ slug: "gemma" })]);
    bench.submit({ id: "a1", accountId: "user_a", slug: "gemma" });
    for (const id of ["b1", "b2", "b3"]) bench.submit({ id, accountId: "user_b" });
    bench.up(loadedLlama, 1);
    expect(bench.drain()).toEqual(["b1", "a1", "b2", "b3"]);
  });

  it("starts a job that the Island fits, whatever is queued ahead of it", () => {
    const bench = new Bench([makeCargo(), makeCargo({ slug: "whisper", runtimeType: "onnx" })]);
    bench.submit({ id: "job_1", slug: "whisper", priority: 100 });
    bench.submit({ id: "job_2", priority: 0 });
    expect(bench.up({ slots: 2 })).toEqual(["job_2 on isle-1"]);
  });
});
