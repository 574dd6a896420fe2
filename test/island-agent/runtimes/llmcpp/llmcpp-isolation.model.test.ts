import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CargoGone } from "../../../../island-agent/runtimes/runtime.ts";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { makeTinyGguf } from "../../../support/models/tiny-gguf.ts";
import {
  collect,
  HANGING_INPUT,
  HANGING_TEMPLATE,
  isRunning,
  makeCargo,
  makeRequest,
  makeRuntime,
  ModelFolder,
  NEVER,
  processEnd,
  TINY_ISLANDER,
} from "./llmcpp-support.ts";

const folder = new ModelFolder();
afterAll(() => folder[Symbol.dispose]());
const ENDLESS = folder.write("endless", { contextTokens: 8_192 });
/** Reads a long prompt for more than two seconds on one core, 512 tokens at a time. */
const SLOW_READER = folder.write("slow-reader", { contextTokens: 8_192, width: 512, layers: 8 });
const HANGING = folder.write("hanging", { chatTemplate: HANGING_TEMPLATE });

const CRASH = { name: "JobFailure", code: "runtime_crashed", retryable: true };
const endlessRequest = makeRequest({ prompt: "hi", max_tokens: 4_096 });

function loadEndless(killAfterMs?: number): Promise<HostedCargo> {
  const runtime = makeRuntime(killAfterMs === undefined ? {} : { killAfterMs });
  return runtime.load(makeCargo({ contextTokens: 8_192 }), ENDLESS, NEVER);
}

function pidOf(llm: HostedCargo): number {
  if (llm.pid === undefined) throw new Error("the host has no process");
  return llm.pid;
}

/** Starts a run, and resolves after its first output. `ended` is its outcome. */
async function begin(llm: HostedCargo, request = endlessRequest, signal = NEVER): Promise<{ ended: Promise<unknown> }> {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const ended = llm.run(request, () => resolve(), signal);
  ended.catch(() => {});
  await begun;
  return { ended };
}

describe("a host process that dies", () => {
  it("fails all its runs as retryable with the reason, and ends the Cargo", async () => {
    await using llm = await loadEndless();
    const runs = [await begin(llm), await begin(llm)];
    process.kill(pidOf(llm), "SIGKILL");
    for (const { ended } of runs) {
      await expect(ended).rejects.toMatchObject({
        ...CRASH,
        message: expect.stringContaining("(SIGKILL), probably because memory ran out"),
      });
    }
    await llm.gone;
    await expect(llm.run(endlessRequest, () => {}, NEVER)).rejects.toBeInstanceOf(CargoGone);
  });

  it("names the signal of a crash", async () => {
    await using llm = await loadEndless();
    const { ended } = await begin(llm);
    process.kill(pidOf(llm), "SIGSEGV");
    await expect(ended).rejects.toMatchObject({ ...CRASH, message: "The llama.cpp process crashed (SIGSEGV)" });
  });

  it("does not affect the runs of another model", async () => {
    await using doomed = await loadEndless();
    await using other = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
    const { ended } = await begin(doomed);
    const story = collect(other, makeRequest({ prompt: "Tell me a story." }));
    process.kill(pidOf(doomed), "SIGKILL");
    await expect(ended).rejects.toMatchObject(CRASH);
    await expect(story).resolves.toMatchObject({ finishReason: "stop" });
  });
});

describe("a run that is aborted", () => {
  it("frees its sequence and keeps the process", async () => {
    await using llm = await loadEndless();
    for (let round = 0; round < 6; round++) {
      const controller = new AbortController();
      const { ended } = await begin(llm, endlessRequest, controller.signal);
      controller.abort(new Error("enough"));
      await expect(ended).rejects.toThrow("enough");
    }
    await expect(collect(llm, makeRequest({ prompt: "hi", max_tokens: 3 }))).resolves.toMatchObject({ text: "aaa" });
    expect(isRunning(pidOf(llm))).toBe(true);
  });

  it("kills the process if it is still reading its prompt at the limit, and its other runs fail as retryable", async () => {
    const runtime = makeRuntime({ killAfterMs: 1 });
    await using llm = await runtime.load(makeCargo({ contextTokens: 8_192 }), SLOW_READER, NEVER);
    const { ended } = await begin(llm);
    const controller = new AbortController();
    const reading = collect(llm, makeRequest({ prompt: "b".repeat(8_000) }), controller.signal);
    // The second run has started, which shows that the first one is reading its prompt.
    await begin(llm);
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await expect(ended).rejects.toMatchObject({ ...CRASH, message: expect.stringContaining("a cancelled job") });
    await llm.gone;
    expect(isRunning(pidOf(llm))).toBe(false);
  });

  it("kills a process whose event loop hangs", async () => {
    await using llm = await makeRuntime({ killAfterMs: 50 }).load(makeCargo(), HANGING, NEVER);
    const controller = new AbortController();
    const hung = collect(llm, makeRequest(HANGING_INPUT), controller.signal);
    controller.abort(new Error("enough"));
    await expect(hung).rejects.toThrow("enough");
    await llm.gone;
    expect(isRunning(pidOf(llm))).toBe(false);
  });
});

describe("dispose()", () => {
  it("leaves no process", async () => {
    const llm = await loadEndless();
    await begin(llm);
    await llm[Symbol.asyncDispose]();
    expect(isRunning(pidOf(llm))).toBe(false);
  });

  it("kills a process that hangs", async () => {
    const llm = await makeRuntime({ killAfterMs: 50 }).load(makeCargo(), HANGING, NEVER);
    const hung = collect(llm, makeRequest(HANGING_INPUT));
    hung.catch(() => {});
    await llm[Symbol.asyncDispose]();
    await expect(hung).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
    expect(isRunning(pidOf(llm))).toBe(false);
  });
});

describe("load()", () => {
  const load = (file: string | null, signal = NEVER) => makeRuntime().load(makeCargo(), file, signal);

  it("reports that a file is not GGUF", async () => {
    const file = folder.write("not-a-model", Buffer.from("Not found"));
    await expect(load(file)).rejects.toMatchObject({
      code: "model_invalid",
      retryable: false,
      message: expect.stringContaining("Invalid GGUF magic"),
    });
  });

  it.each([
    ["in its header", 1_000],
    ["in its tensors", 60_000],
  ])("refuses a file that was cut off %s", async (_where, length) => {
    const file = folder.write(`cut-${length}`, makeTinyGguf().subarray(0, length));
    await expect(load(file)).rejects.toMatchObject({ code: "model_invalid", retryable: false });
  });

  it("survives a file that makes llama.cpp abort", async () => {
    const file = folder.write("aborting", { without: ["llama.feed_forward_length"] });
    await expect(load(file)).rejects.toMatchObject({
      code: "model_invalid",
      retryable: false,
      message: expect.stringMatching(/SIGABRT.*GGML_ASSERT.* while loading the model$/),
    });
  });

  it("fails as retryable when the file is missing", async () => {
    await expect(load("/nowhere/model.gguf")).rejects.toMatchObject({ code: "model_unavailable", retryable: true });
  });

  it("refuses a Cargo without a model", async () => {
    await expect(load(null)).rejects.toMatchObject({ code: "model_invalid" });
  });

  it("rejects with the signal's reason when aborted", async () => {
    const controller = new AbortController();
    const loading = load(TINY_ISLANDER, controller.signal);
    controller.abort(new Error("evicted"));
    await expect(loading).rejects.toThrow("evicted");
  });
});

describe("the host process and its parent", () => {
  it("ignores the signals of the terminal", async () => {
    await using llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.kill(pidOf(llm), signal);
    const run = await collect(llm, makeRequest({ prompt: "Count from 3 to 9." }));
    expect(run.text).toBe("3, 4, 5, 6, 7, 8, 9.");
  });

  it.each(["idle", "writing", "hanging"])("ends when its parent is killed while it is %s", async (state) => {
    const parent = fork(path.join(import.meta.dirname, "doomed-parent.ts"), [state, ENDLESS, HANGING], {
      execArgv: [],
    });
    const [pid] = (await once(parent, "message")) as [number];
    expect(isRunning(pid)).toBe(true);
    parent.kill("SIGKILL");
    await processEnd(pid);
  });
});
