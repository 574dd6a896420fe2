import { afterEach, describe, expect, it, vi } from "vitest";
import { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import { loadTiny, NEVER } from "./onnx-support.ts";

const TEXTS = [
  "the cat sleeps",
  "a kitten naps now",
  "stocks fell today",
  "hi",
  "the dog barks at the big cat in the garden",
];
/** The text has far more tokens than the small models accept. */
const TOO_LONG = "cat ".repeat(300);

afterEach(() => vi.restoreAllMocks());

const run = (cargo: HostedCargo, input: object, signal = NEVER, onWorking = () => {}): Promise<RunResult> =>
  cargo.run({ input: { ...input }, resume: null }, () => {}, signal, { onWorking });

/** Runs of the host process, each of one job or of several. */
const countRuns = () => vi.spyOn(HostedCargo.prototype, "run");

describe("small jobs that wait at the same time", () => {
  it.each([
    ["feature-extraction", "tiny-embedder", "fp32", (text: string) => ({ input: text })],
    ["feature-extraction", "tiny-embedder", "q8", (text: string) => ({ input: [text, "the cat sleeps"] })],
    ["text-classification", "tiny-sentiment", "fp32", (text: string) => ({ text })],
    ["text-classification", "tiny-sentiment", "fp32", (text: string) => ({ text, top_k: 2 })],
  ] as const)("share runs of %s with %s in %s, without changing any result", async (task, model, weights, inputOf) => {
    await using cargo = await loadTiny(task, model, { weights });
    const alone: RunResult[] = [];
    for (const text of TEXTS) alone.push(await run(cargo, inputOf(text)));
    const runs = countRuns();
    const together = await Promise.all(TEXTS.map((text) => run(cargo, inputOf(text))));
    expect(together).toEqual(alone);
    // There is one run for all jobs, or one for the first job, which does not wait, and one for the others.
    expect(runs.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it("share a run only with the same options and at most 15 others", async () => {
    await using cargo = await loadTiny("feature-extraction", "tiny-embedder");
    const runs = countRuns();
    const many = Array.from({ length: 1 + 16 + 3 }, (_, i) => run(cargo, { input: TEXTS[i % TEXTS.length] }));
    await Promise.all(many);
    expect(runs).toHaveBeenCalledTimes(3);
    runs.mockClear();
    const others = [{}, { pooling: "cls" }, { normalize: false }, {}].map((options) =>
      run(cargo, { input: "hi", ...options }),
    );
    const results = await Promise.all(others);
    expect(runs).toHaveBeenCalledTimes(4);
    expect(results[0]).toEqual(results[3]);
    expect(results[0]).not.toEqual(results[1]);
  });

  it("do not share a run with large ones", async () => {
    await using cargo = await loadTiny("feature-extraction", "tiny-embedder");
    const runs = countRuns();
    const large = Array.from({ length: 300 }, () => "the cat sleeps");
    await Promise.all(["hi", large, "hi", large, "hi"].map((input) => run(cargo, { input })));
    expect(runs).toHaveBeenCalledTimes(4);
  });

  it("do not fail with an invalid job in the same run", async () => {
    await using cargo = await loadTiny("feature-extraction", "tiny-embedder");
    const alone = await run(cargo, { input: "hi" });
    const [first, second, third, fourth] = await Promise.allSettled(
      ["hi", "hi", TOO_LONG, "hi"].map((input) => run(cargo, { input })),
    );
    expect(third).toMatchObject({ status: "rejected", reason: { code: "context_length_exceeded" } });
    for (const each of [first, second, fourth]) expect(each).toEqual({ status: "fulfilled", value: alone });
  });

  it("stop when aborted, without an effect on the others", async () => {
    await using cargo = await loadTiny("feature-extraction", "tiny-embedder");
    const pid = cargo.pid;
    const stop = new AbortController();
    const jobs = [NEVER, NEVER, stop.signal, NEVER].map((signal) => run(cargo, { input: "hi" }, signal));
    const gone = expect(jobs[2]).rejects.toThrow("stopped");
    await jobs[0];
    // The other three jobs share one run.
    stop.abort(new Error("stopped"));
    await gone;
    expect(await jobs[1]).toEqual(await jobs[3]);
    const all = new AbortController();
    const none = Promise.allSettled(["hi", "hi", "hi"].map((input) => run(cargo, { input }, all.signal)));
    all.abort(new Error("all"));
    for (const each of await none) expect(each).toMatchObject({ status: "rejected", reason: { message: "all" } });
    stop.abort();
    await expect(run(cargo, { input: "hi" })).resolves.toBeDefined();
    expect(cargo.pid).toBe(pid);
  });

  it("all fail as retryable if their process is killed", async () => {
    await using cargo = await loadTiny("feature-extraction", "tiny-embedder");
    const jobs = Array.from({ length: 4 }, () => run(cargo, { input: "hi" }));
    process.kill(cargo.pid ?? 0, "SIGKILL");
    for (const each of await Promise.allSettled(jobs)) expect(each).toMatchObject({ reason: { retryable: true } });
  });
});
