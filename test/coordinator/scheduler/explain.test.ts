import { describe, expect, it } from "vitest";
import { explainDownloads } from "../../../coordinator/scheduler/explain.ts";
import { PROVEN_FEATURE } from "../../../coordinator/credits/trust.ts";
import { Bench, GB, makeCargo, START_MS } from "./builders.ts";

describe("explain()", () => {
  it("returns null for a job that does not wait", () => {
    const bench = new Bench();
    bench.up();
    bench.submit();
    expect(bench.scheduler.explain("job_1")).toBeNull();
    expect(bench.scheduler.explain("job_9")).toBeNull();
  });

  it("reports that no Island is online", () => {
    const bench = new Bench();
    bench.submit();
    expect(bench.scheduler.explain("job_1")).toEqual({
      reason: "no_island_online",
      position: 1,
      message: "no Island is online",
    });
  });

  it("reports that no Island offers the runtime", () => {
    const bench = new Bench([makeCargo({ runtimeType: "onnx" })]);
    bench.up();
    bench.submit();
    expect(bench.scheduler.explain("job_1")).toMatchObject({
      reason: "no_island_offers_runtime",
      message: "no online Island offers onnx",
    });
  });

  it("reports that only the account's own Islands run an unapproved Cargo, and what they lack", () => {
    const bench = new Bench([makeCargo({ privateTo: "user_1" })]);
    bench.up({ id: "isle-1", accountId: "owner_1" });
    bench.submit({ onlyIslandsOf: "user_1" });
    expect(bench.scheduler.explain("job_1")).toEqual({
      reason: "own_islands_only",
      position: 1,
      message: "only your own Islands run it until it is approved, and none of them is online",
    });
    bench.up({ id: "isle-2", accountId: "user_1", draining: true });
    expect(bench.scheduler.explain("job_1")).toMatchObject({
      reason: "no_island_fits",
      message:
        "1 Island offers llmcpp, but it takes no new jobs now; only your own Islands run it until it is approved",
    });
    expect(bench.change({ id: "isle-2", accountId: "user_1" })).toEqual(["job_1 on isle-2"]);
  });

  it("reports that only own Islands run a job, because of its trust or an earlier definition", () => {
    const bench = new Bench();
    bench.up({ id: "isle-1", accountId: "owner_1" });
    bench.submit({ onlyIslandsOf: "user_1" });
    expect(bench.scheduler.explain("job_1")?.message).toBe(
      'only your own Islands run it, because its trust is "own" or it was submitted for an earlier definition of the Cargo, and none of them is online',
    );
  });

  it("reports what the owners of Islands do not allow", () => {
    const container = { image: "docker.io/a/b:1", digest: null, command: null, gpu: false, network: true };
    const bench = new Bench([makeCargo({ runtimeType: "container", container })]);
    const policy = {
      network: false,
      containerGpu: true,
      runtimes: { allow: null, deny: [] },
      categories: { allow: null, deny: [] },
      approvedOnly: false,
    };
    bench.up({ id: "isle-1", runtimes: ["container"], policy });
    bench.submit();
    expect(bench.scheduler.explain("job_1")).toEqual({
      reason: "no_island_fits",
      position: 1,
      message: "Islands' owners do not allow containers with a network",
    });
    bench.up({ id: "isle-2", runtimes: ["container"], draining: true });
    expect(bench.scheduler.explain("job_1")?.message).toBe(
      "1 Island offers container, but it takes no new jobs now; other Islands' owners do not allow containers with a network",
    );
    expect(bench.change({ id: "isle-1", runtimes: ["container"], policy: { ...policy, network: true } })).toEqual([
      "job_1 on isle-1",
    ]);
  });

  it("reports a missing agent feature, and the job runs on an Island that has it", () => {
    const bench = new Bench();
    bench.up({ id: "isle-1" });
    bench.submit({ features: ["chat.tools"] });
    expect(bench.scheduler.explain("job_1")).toEqual({
      reason: "no_island_fits",
      position: 1,
      message: "1 Island offers llmcpp, but it lacks the feature chat.tools, which needs a later version of the agent",
    });
    expect(bench.submit({ id: "job_2" })).toEqual(["job_2 on isle-1"]);
    expect(bench.up({ id: "isle-2", features: ["chat.tools"] })).toEqual(["job_1 on isle-2"]);
  });

  it("reports that the trust of a job excludes Islands, and the job runs once an owner is proven", () => {
    const proven = new Set<string>();
    const cargo = { ...makeCargo(), isProvenOwner: (accountId: string) => proven.has(accountId) };
    const bench = new Bench([cargo]);
    bench.up({ id: "isle-1", accountId: "owner_1" });
    bench.submit({ features: [PROVEN_FEATURE] });
    const advice = 'Wait until an owner is proven, or send trust "any" if the Cargo allows it';
    expect(bench.scheduler.explain("job_1")).toEqual({
      reason: "no_island_fits",
      position: 1,
      message: `1 Island offers llmcpp, but it lacks a proven owner, which the job's trust "proven" demands. ${advice}`,
    });
    bench.up({ id: "isle-2", accountId: "owner_2", ramBytes: 0 });
    bench.up({ id: "isle-3", accountId: "owner_3", draining: true });
    proven.add("owner_3");
    bench.changeCargo(cargo);
    expect(bench.scheduler.explain("job_1")?.message).toBe(
      `3 Islands offer llmcpp, but none fits: 2 lack a proven owner, which the job's trust "proven" demands, 1 takes no new jobs now. ${advice}`,
    );
    proven.add("owner_1");
    expect(bench.changeCargo(cargo)).toEqual(["job_1 on isle-1"]);
    bench.submit({ id: "job_2", features: [PROVEN_FEATURE] });
    expect(bench.scheduler.explain("job_2")?.message).toBe(
      '1 Island fits, but it is busy; the job\'s trust "proven" excludes 1 Island of other owners',
    );
  });

  const needy = makeCargo({ requiredRamBytes: 12 * GB, requiredVramBytes: 1.5 * GB });
  const large = { ramBytes: 64 * GB, vramBytes: 8 * GB };

  it.each([
    [[{ ramBytes: 8 * GB }], "1 Island offers llmcpp, but it lacks 12.0 GiB of RAM"],
    [[{ ramBytes: 8 * GB }, { ramBytes: 4 * GB }], "2 Islands offer llmcpp, but none has 12.0 GiB of RAM"],
    [
      [large, large].map((island) => ({ ...island, vramBytes: 0 })),
      "2 Islands offer llmcpp, but none has 1.5 GiB of VRAM",
    ],
    [
      [{ ...large, noSpaceFor: [needy.slug] }],
      "1 Island offers llmcpp, but it lacks disk space for its model or image",
    ],
    [[{ ...large, draining: true }], "1 Island offers llmcpp, but it takes no new jobs now"],
    [
      [large, large].map((island) => ({ ...island, draining: true })),
      "2 Islands offer llmcpp, but none takes new jobs now",
    ],
    [
      [{ ramBytes: GB }, { ramBytes: 2 * GB }, { ...large, draining: true }, { runtimes: [] }],
      "3 Islands offer llmcpp, but none fits: 2 lack 12.0 GiB of RAM, 1 takes no new jobs now",
    ],
  ])("reports why no Island fits (%#)", (islands, message) => {
    const bench = new Bench([needy]);
    bench.submit();
    for (const [index, island] of islands.entries()) bench.up({ id: `isle-${index}`, ...island });
    expect(bench.scheduler.explain("job_1")).toMatchObject({ reason: "no_island_fits", message });
  });

  it("reports that the fitting Islands are busy", () => {
    const bench = new Bench();
    bench.up({ id: "isle-1" }, 1);
    bench.submit();
    expect(bench.scheduler.explain("job_1")?.message).toBe("1 Island fits, but it is busy");
    bench.up({ id: "isle-2" }, 1);
    bench.up({ id: "isle-3", runtimes: ["onnx"] });
    expect(bench.scheduler.explain("job_1")).toMatchObject({
      reason: "all_busy",
      message: "2 Islands fit, but all are busy",
    });
  });

  it("reports that the model is downloading while no fitting Island has it", () => {
    const bench = new Bench();
    bench.up({ downloads: [{ slug: "llama", fraction: 0.419 }] }, 1);
    bench.submit();
    expect(bench.scheduler.explain("job_1")).toMatchObject({
      reason: "model_downloading",
      message: "model is downloading on 1 Island (41 %)",
      percent: 41,
    });
    bench.up({ id: "isle-2", loaded: ["llama"] }, 1);
    expect(bench.scheduler.explain("job_1")?.reason).toBe("all_busy");
  });

  it("stops reporting the download once it is over", () => {
    const bench = new Bench();
    bench.up({ downloads: [{ slug: "llama", fraction: 0.9 }] }, 1);
    bench.submit();
    bench.change({ cachedModels: ["hf:owner/repo"] });
    expect(bench.scheduler.explain("job_1")?.message).toBe("1 Island fits, but it is busy");
  });

  it("reports a Cargo that the catalog does not have", () => {
    const bench = new Bench([]);
    bench.submit();
    expect(bench.scheduler.explain("job_1")?.message).toBe("the catalog has no Cargo llama now");
  });

  it("reports that all fitting Islands refused, with their number and reasons", () => {
    const bench = new Bench();
    for (const id of ["isle-1", "isle-2", "isle-3"]) {
      bench.up({ id });
      bench.fail(id, { cause: "refused", code: id === "isle-3" ? "out_of_memory" : "shutting_down" });
    }
    expect(bench.submit()).toEqual([]);
    expect(bench.scheduler.explain("job_1")).toMatchObject({
      reason: "all_refused",
      message:
        "3 Islands fit, but all recently refused jobs (shutting_down 2, out_of_memory); they are tried again after a growing delay",
    });
    bench.up({ id: "isle-4" }, 1);
    expect(bench.scheduler.explain("job_1")).toMatchObject({
      reason: "all_busy",
      message:
        "1 Island fits, but it is busy; 3 Islands recently refused or failed jobs (shutting_down 2, out_of_memory)",
    });
  });

  it("reports that all fitting Islands failed", () => {
    const bench = new Bench();
    bench.up();
    bench.fail("isle-1");
    bench.submit();
    expect(bench.scheduler.explain("job_1")).toMatchObject({
      reason: "all_failing",
      message:
        "1 Island fits, but it recently failed jobs (model_unavailable); it is tried again after a growing delay",
    });
  });

  it("reports that the job waits for a busy Island instead of the idle one that failed it", () => {
    const bench = new Bench();
    bench.up({ id: "isle-1" });
    bench.up({ id: "isle-2" }, 1);
    bench.submit({ avoidIslands: ["isle-1"] });
    expect(bench.scheduler.explain("job_1")?.message).toBe("1 Island fits, but it is busy; 1 Island failed this job");
  });

  it("returns positions in order of service, in which accounts take turns, each with its highest priority first", () => {
    const bench = new Bench();
    const submit = (id: string, accountId: string, priority = 50): void => {
      bench.submit({ id, accountId, priority, createdAtMs: START_MS + 1 });
    };
    for (const id of ["a1", "a2", "a3"]) submit(id, "user_a");
    submit("b1", "user_b");
    submit("b2", "user_b", 51);
    submit("c1", "user_c", 99);
    const ids = ["a1", "b2", "c1", "a2", "b1", "a3"];
    expect(ids.map((id) => bench.scheduler.explain(id)?.position)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("numbers chats separately from other jobs, and jobs that avoid an Island together with the others", () => {
    const bench = new Bench();
    bench.submit({ id: "b1" });
    bench.submit({ id: "c1", jobClass: "chat" });
    bench.submit({ id: "b2", avoidIslands: ["isle-9"], createdAtMs: START_MS + 2 });
    expect(["b1", "b2", "c1"].map((id) => bench.scheduler.explain(id)?.position)).toEqual([1, 2, 1]);
  });
});

describe("explainDownloads()", () => {
  it("returns the highest percentage, and none if all are unknown", () => {
    const reason = "model_downloading";
    const message = "model is downloading on 3 Islands (75 %)";
    expect(explainDownloads([0.2, null, 0.75])).toEqual({ reason, message, percent: 75 });
    expect(explainDownloads([null])).toEqual({ reason, message: "model is downloading on 1 Island" });
  });
});
