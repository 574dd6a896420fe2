import { describe, expect, it } from "vitest";
import { factsOf, loadFailureOf, runFailureOf } from "../../../../island-agent/runtimes/host/host-failure.ts";
import type { HostEnding } from "../../../../island-agent/runtimes/host/host-process.ts";
import { loadScripted, SCRIPTED } from "./host-world.ts";

const program = { ...SCRIPTED, explainCrash: (stderr: string) => /GGML_ASSERT\(.*\)/.exec(stderr)?.[0] ?? "" };
const ending = (more: Partial<HostEnding>): HostEnding => ({
  code: null,
  signal: null,
  killedBecause: null,
  isRequested: false,
  killedAs: "runtime_crashed",
  stderrTail: "",
  ...more,
});

describe("a load that ended with its process", () => {
  it.each<[string, Partial<HostEnding>, string, boolean]>([
    ["V8's heap limit", { signal: "SIGABRT", stderrTail: "JavaScript heap out of memory" }, "out_of_memory", true],
    ["bad_alloc", { signal: "SIGABRT", stderrTail: "what():  std::bad_alloc" }, "out_of_memory", true],
    [
      "a buffer that is not there",
      { signal: "SIGABRT", stderrTail: "GGML_ASSERT(ctx->mem_buffer != NULL) failed" },
      "out_of_memory",
      true,
    ],
    ["words of it at an exit", { code: 1, stderrTail: "mmap: Cannot allocate memory" }, "out_of_memory", true],
    ["the kernel", { signal: "SIGKILL" }, "out_of_memory", true],
    [
      "an assertion about the model",
      { signal: "SIGABRT", stderrTail: "GGML_ASSERT(n_ff > 0) failed" },
      "model_invalid",
      false,
    ],
    ["SIGABRT alone", { signal: "SIGABRT" }, "runtime_crashed", true],
    ["SIGSEGV", { signal: "SIGSEGV" }, "runtime_crashed", true],
    ["SIGBUS", { signal: "SIGBUS" }, "runtime_crashed", true],
    ["our own hand", { signal: "SIGKILL", killedBecause: "it was slow" }, "runtime_crashed", true],
    [
      "our own hand, for its memory",
      { signal: "SIGKILL", killedBecause: "x", killedAs: "out_of_memory" },
      "out_of_memory",
      true,
    ],
  ])("by %s", (_name, more, code, retryable) => {
    expect(loadFailureOf(program, ending(more))).toMatchObject({ code, retryable });
  });

  it("is told of a real process", async () => {
    const segfault = loadScripted({ signal: "SIGSEGV" });
    await expect(segfault).rejects.toMatchObject({ code: "runtime_crashed", retryable: true });
    const aborted = loadScripted({ stderr: "terminate called: std::bad_alloc\n", signal: "SIGABRT" });
    await expect(aborted).rejects.toMatchObject({ code: "out_of_memory", retryable: true });
  });
});

describe("a run that ended with its process", () => {
  it("is retryable, and says where memory was wanting", () => {
    const abort = ending({ signal: "SIGABRT", stderrTail: "JavaScript heap out of memory" });
    expect(runFailureOf(program, abort)).toMatchObject({ code: "out_of_memory", retryable: true });
    const assertion = ending({ signal: "SIGABRT", stderrTail: "GGML_ASSERT(n > 0) failed" });
    expect(runFailureOf(program, assertion)).toMatchObject({ code: "runtime_crashed", retryable: true });
  });
});

describe("the log of an end", () => {
  it("names no failure when the model was unloaded", () => {
    expect(factsOf(ending({ signal: "SIGKILL", isRequested: true }))).toEqual({});
  });

  it("names a crash by its signal, and a kill by its reason", () => {
    expect(factsOf(ending({ signal: "SIGSEGV" }))).toEqual({ code: null, signal: "SIGSEGV", stderrTail: "" });
    const killed = ending({ signal: "SIGKILL", isRequested: true, killedBecause: "it did not end in time" });
    expect(factsOf(killed)).toMatchObject({ killedBecause: "it did not end in time", killedAs: "runtime_crashed" });
  });
});
