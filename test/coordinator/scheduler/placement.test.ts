import { describe, expect, it } from "vitest";
import type { Choice, JobSize, RunTokens, SchedulerIsland } from "../../../coordinator/scheduler/events.ts";
import { Bench, GB, makeCargo } from "./builders.ts";

const loaded = { cachedModels: ["hf:owner/repo"], loaded: ["llama"], rttMs: 5 };

/** A chat of 100 prompt tokens and at most 50 output tokens. */
const CHAT: JobSize = { input: 100, maxOutput: 50, promptParts: [] };
const TOKENS: RunTokens = { prompt: 100, cached: null, output: 50 };

/** Runs one chat on an Island: `readMs` until its first output, then `tokenMs` for each of its 50 tokens. */
function measure(bench: Bench, islandId: string, tokenMs: number, readMs = 100): void {
  const others = bench.islandIds.filter((id) => id !== islandId);
  const jobId = `measures_${islandId}_${bench.nowMs}`;
  expect(bench.submit({ id: jobId, size: CHAT, avoidIslands: others })).toEqual([`${jobId} on ${islandId}`]);
  bench.finishChat(islandId, jobId, { readMs, tokenMs, tokens: TOKENS });
}

function raise(bench: Bench, ...islands: (Partial<SchedulerIsland> & { readonly id: string })[]): void {
  for (const island of islands) bench.up({ ...loaded, ...island });
}

/** Submits a chat and returns why its Island was chosen. */
function choiceOf(bench: Bench, id: string, size: JobSize = CHAT): Choice {
  bench.submit({ id, size });
  return bench.choices.get(id) ?? expect.fail(`${id} was not assigned`);
}

describe("place()", () => {
  it("chooses the Island that has written faster", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1", slots: 4 }, { id: "isle-2", slots: 4 });
    measure(bench, "isle-1", 40);
    measure(bench, "isle-2", 10);
    expect(choiceOf(bench, "job_1")).toMatchObject({ reason: "cost", islandId: "isle-2" });
  });

  it("chooses a slower Island if the faster one is so busy that the job and the others would be slower there", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1", slots: 64 }, { id: "isle-2", slots: 64 });
    measure(bench, "isle-1", 30);
    measure(bench, "isle-2", 20);
    const chosen = Array.from({ length: 40 }, (_, index) => choiceOf(bench, `job_${index}`).islandId);
    const slower = chosen.filter((id) => id === "isle-1").length;
    expect(slower).toBeGreaterThan(8);
    expect(slower).toBeLessThan(20);
  });

  it("chooses the Island that reads faster for a long prompt, and the one that writes faster for a short one", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1" }, { id: "isle-2" });
    measure(bench, "isle-1", 20, 20);
    measure(bench, "isle-2", 10, 400);
    expect(choiceOf(bench, "job_1", { ...CHAT, input: 4_000 }).islandId).toBe("isle-1");
    bench.free("isle-1", "job_1");
    expect(choiceOf(bench, "job_2", { ...CHAT, input: 10, maxOutput: 4_000 }).islandId).toBe("isle-2");
  });

  it("prefers the Island that has the start of the prompt in its cache, and only as far as that saves time", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1", slots: 4 }, { id: "isle-2", slots: 4 });
    measure(bench, "isle-1", 10, 100);
    measure(bench, "isle-2", 9, 90);
    const instructions = { hash: 1, tokens: 500 };
    const question = { hash: 2, tokens: 1_000, withAnswer: 1_050 };
    const answer = { hash: 3, tokens: 1_050 };
    const next = { hash: 4, tokens: 2_000 };
    const chat = (promptParts: JobSize["promptParts"]): JobSize => ({
      input: promptParts.at(-1)?.tokens ?? 0,
      maxOutput: 50,
      promptParts,
    });
    expect(choiceOf(bench, "job_1", chat([instructions, question])).islandId).toBe("isle-2");
    bench.finishChat("isle-2", "job_1", { readMs: 900, tokenMs: 9, tokens: { ...TOKENS, prompt: 1_000 } });
    expect(choiceOf(bench, "job_2", chat([instructions, question, answer, next]))).toMatchObject({
      islandId: "isle-2",
      candidates: [{ islandId: "isle-2", cachedTokens: 1_050 }, { cachedTokens: 0 }],
    });
  });

  it("learns nothing from a prompt if the Island reports no cached tokens", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1" });
    measure(bench, "isle-1", 10);
    const first = { hash: 1, tokens: 5_000 };
    const next = { hash: 2, tokens: 5_010 };
    const readMs = (id: string): number | undefined => choiceOf(bench, id).candidates[0]?.readMs;
    choiceOf(bench, "job_1", { ...CHAT, input: 5_000, promptParts: [first] });
    bench.finishChat("isle-1", "job_1", { readMs: 5_000, tokenMs: 10, tokens: { ...TOKENS, prompt: 5_000 } });
    const knownMs = readMs("job_2");
    bench.free("isle-1", "job_2");
    // The prompt was expected in the cache, and was not.
    choiceOf(bench, "job_3", { ...CHAT, input: 5_010, promptParts: [first, next] });
    bench.finishChat("isle-1", "job_3", { readMs: 5_000, tokenMs: 10, tokens: { ...TOKENS, prompt: 5_010 } });
    expect(readMs("job_4")).toBe(knownMs);
  });

  it("gives a new Island a trial at once, and no second job until the first one has ended", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1", slots: 8 });
    measure(bench, "isle-1", 10);
    raise(bench, { id: "isle-2", slots: 8 });
    expect(choiceOf(bench, "job_1")).toMatchObject({ reason: "trial", islandId: "isle-2" });
    expect(choiceOf(bench, "job_2")).toMatchObject({ reason: "cost", islandId: "isle-1" });
    bench.finishChat("isle-2", "job_1", { readMs: 50, tokenMs: 2, tokens: TOKENS });
    expect(choiceOf(bench, "job_3")).toMatchObject({ reason: "cost", islandId: "isle-2" });
  });

  it("spends at most the share of trials on Islands that never end their first job", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-0", slots: 1_000 });
    measure(bench, "isle-0", 1);
    for (let index = 1; index <= 100; index += 1) raise(bench, { id: `isle-${index}`, slots: 8 });
    const chosen = Array.from({ length: 200 }, (_, index) => choiceOf(bench, `job_${index}`).reason);
    const trials = chosen.filter((reason) => reason === "trial").length;
    // Sixteen at the start, and 2 % of 200 jobs. The first measurement was one of them.
    expect(trials).toBeGreaterThanOrEqual(18);
    expect(trials).toBeLessThanOrEqual(20);
  });

  it("tries an Island of slow hardware as rarely as that costs time", () => {
    const bench = new Bench();
    raise(bench, { id: "fast", slots: 1_000, hardwareClass: "fast" }, { id: "slow-0", hardwareClass: "slow" });
    measure(bench, "fast", 1);
    measure(bench, "slow-0", 8);
    for (let index = 1; index <= 100; index += 1) raise(bench, { id: `slow-${index}`, hardwareClass: "slow" });
    const chosen = Array.from({ length: 100 }, (_, index) => choiceOf(bench, `job_${index}`).reason);
    const trials = chosen.filter((reason) => reason === "trial").length;
    // Each counts as four of the eighteen trials that other Islands would get.
    expect(trials).toBeGreaterThanOrEqual(2);
    expect(trials).toBeLessThanOrEqual(6);
  });

  it("spreads jobs over equal Islands", () => {
    let state = 1;
    // A linear congruential generator, so that the test always does the same.
    const random = (): number => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
    const bench = new Bench([makeCargo()], { random });
    const ids = Array.from({ length: 30 }, (_, index) => `isle-${index}`);
    raise(bench, ...ids.map((id) => ({ id })));
    for (const id of ids) measure(bench, id, 10);
    const counts = new Map(ids.map((id) => [id, 0]));
    for (let index = 0; index < 3_000; index += 1) {
      const { islandId } = choiceOf(bench, `job_${index}`);
      counts.set(islandId, (counts.get(islandId) ?? 0) + 1);
      bench.finishChat(islandId, `job_${index}`, { readMs: 100, tokenMs: 10, tokens: TOKENS });
    }
    for (const count of counts.values()) expect(count).toBeGreaterThanOrEqual(50);
  });

  it("counts the download and the load of an absent model", () => {
    const bench = new Bench([makeCargo({ model: { url: "hf:owner/repo", sha256: null, sizeBytes: 4 * GB } })]);
    raise(bench, { id: "isle-1", cachedModels: [], loaded: [], downloadBytesPerMs: 10_000 }, { id: "isle-2" });
    const { candidates } = choiceOf(bench, "job_1", CHAT);
    const absent = candidates.find(({ islandId }) => islandId === "isle-1");
    expect(absent?.loadMs).toBeGreaterThan((4 * GB) / 10_000);
  });

  it("corrects a slow first run of an Island that never reports that it has the model", () => {
    const bench = new Bench([makeCargo({ model: { url: "hf:owner/repo", sha256: null, sizeBytes: 1_000 } })]);
    const without = { cachedModels: [], loaded: [] };
    raise(bench, { id: "isle-1", ...without }, { id: "isle-2", ...without });
    measure(bench, "isle-1", 10, 20_000);
    const readMs = (id: string) => choiceOf(bench, id).candidates.find(({ islandId }) => islandId === "isle-1")?.readMs;
    const before = readMs("job_1") ?? 0;
    for (let run = 0; run < 10; run += 1) measure(bench, "isle-1", 10, 100);
    expect(readMs("job_2")).toBeLessThan(before / 5);
  });

  it("keeps the speeds of an Island that leaves and returns", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1" }, { id: "isle-2" });
    measure(bench, "isle-1", 40);
    measure(bench, "isle-2", 10);
    bench.down("isle-2");
    raise(bench, { id: "isle-2" });
    expect(choiceOf(bench, "job_1").islandId).toBe("isle-2");
  });

  it("prefers the Island with fewer failures", () => {
    const bench = new Bench();
    raise(bench, { id: "isle-1" }, { id: "isle-2" });
    measure(bench, "isle-1", 10);
    measure(bench, "isle-2", 10);
    bench.step({ kind: "run_ended", islandId: "isle-1", jobId: "x", slug: "llama", succeeded: false, tokens: null });
    expect(choiceOf(bench, "job_1").islandId).toBe("isle-2");
  });
});

describe("place() with a busy Island that is much faster", () => {
  /** A fast Island whose only slot runs a job that needs 600 ms, and a free one that is forty times slower. */
  function busy(): Bench {
    const bench = new Bench();
    raise(bench, { id: "fast" }, { id: "slow" });
    measure(bench, "slow", 400);
    measure(bench, "fast", 10);
    expect(choiceOf(bench, "job_0").islandId).toBe("fast");
    return bench;
  }

  it("reserves its next slot for the job", () => {
    const bench = busy();
    expect(bench.submit({ id: "job_1", size: CHAT })).toEqual([]);
    expect(bench.scheduler.heldFor("job_1")).toBe("fast");
    // A job that waits for one Island is demand for others.
    expect([...bench.scheduler.queuedDemand().values()]).toEqual([1]);
    expect(bench.scheduler.explain("job_1")).toMatchObject({ reason: "all_busy", position: 1 });
    expect(bench.scheduler.explain("job_1")?.message).toMatch(/waits at most \d+ s for a busy Island/u);
    expect(bench.free("fast", "job_0")).toEqual(["job_1 on fast"]);
  });

  it("gives the job to the slower Island after the time that it would have saved", () => {
    const bench = busy();
    bench.submit({ id: "job_1", size: CHAT });
    expect(bench.pass(60_000)).toEqual(["job_1 on slow"]);
  });

  it("gives the job to the slower Island when the faster one leaves", () => {
    const bench = busy();
    bench.submit({ id: "job_1", size: CHAT });
    expect(bench.down("fast")).toEqual(["job_1 on slow"]);
  });

  it("does not start an offered job on the slower Island", () => {
    const bench = busy();
    expect(bench.offer({ id: "job_1", size: CHAT })).toEqual([]);
    expect(bench.scheduler.explain("job_1")).toBeNull();
  });

  it("counts the slots that are reserved already, so that later jobs use the slower Island", () => {
    const bench = busy();
    const assigned = Array.from({ length: 60 }, (_, index) =>
      bench.submit({ id: `job_${index + 1}`, size: CHAT }),
    ).flat();
    expect(assigned).toHaveLength(1);
    expect(assigned[0]).toMatch(/ on slow$/u);
  });
});
