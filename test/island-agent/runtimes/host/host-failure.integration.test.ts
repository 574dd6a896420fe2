import { describe, expect, it } from "vitest";
import { factsOf, loadFailureOf, runFailureOf } from "../../../../island-agent/runtimes/host/host-failure.ts";
import type { HostEnding } from "../../../../island-agent/runtimes/host/host-process.ts";
import { loadScripted, SCRIPTED } from "./host-world.ts";

const program = { ...SCRIPTED, explainCrash: (stderr: string) => /GGML_ASSERT\(.*\)/.exec(stderr)?.[0] ?? "" };
const ending = (more: Partial<HostEnding>): HostEnding => ({
  code: null,
  signal: null,
  killReason: null,
  isRequested: false,
  killedAs: "runtime_crashed",
  stderrTail: "",
  ...more,
});

describe("loadFailureOf()", () => {
  it.each<[string, Partial<HostEnding>, string, boolean]>([
    ["V8's heap limit", { signal: "SIGABRT", stderrTail: "JavaScript heap out of memory" }, "out_of_memory", true],
    ["bad_alloc", { signal: "SIGABRT", stderrTail: "what():  std::bad_alloc" }, "out_of_memory", true],
    [
      "a missing buffer",
      { signal: "SIGABRT", stderrTail: "GGML_ASSERT(ctx->mem_buffer != NULL) failed" },
      "out_of_memory",
      true,
    ],
    [
      "an exit with a message about memory",
      { code: 1, stderrTail: "mmap: Cannot allocate memory" },
      "out_of_memory",
      true,
    ],
    ["the kernel", { signal: "SIGKILL" }, "out_of_memory", true],
    [
      "an assertion about the model",
      { signal: "SIGABRT", stderrTail: "GGML_ASSERT(n_ff > 0) failed" },
      "model_invalid",
      false,
    ],
    ["SIGABRT without a message", { signal: "SIGABRT" }, "runtime_crashed", true],
    ["SIGSEGV", { signal: "SIGSEGV" }, "runtime_crashed", true],
    ["SIGBUS", { signal: "SIGBUS" }, "runtime_crashed", true],
    ["the agent", { signal: "SIGKILL", killReason: "it was slow" }, "runtime_crashed", true],
    [
      "the agent, for its memory",
      { signal: "SIGKILL", killReason: "x", killedAs: "out_of_memory" },
      "out_of_memory",
      true,
    ],
  ])("classifies an end by %s", (_name, more, code, retryable) => {
    expect(loadFailureOf(program, ending(more))).toMatchObject({ code, retryable });
  });

  it("classifies the end of a real process", async () => {
    const segfault = loadScripted({ signal: "SIGSEGV" });
    await expect(segfault).rejects.toMatchObject({ code: "runtime_crashed", retryable: true });
    const aborted = loadScripted({ stderr: "terminate called: std::bad_alloc\n", signal: "SIGABRT" });
    await expect(aborted).rejects.toMatchObject({ code: "out_of_memory", retryable: true });
  });
});

describe("runFailureOf()", () => {
  it("returns a retryable failure, and recognizes a lack of memory", () => {
    const abort = ending({ signal: "SIGABRT", stderrTail: "JavaScript heap out of memory" });
    expect(runFailureOf(program, abort)).toMatchObject({ code: "out_of_memory", retryable: true });
    const assertion = ending({ signal: "SIGABRT", stderrTail: "GGML_ASSERT(n > 0) failed" });
    expect(runFailureOf(program, assertion)).toMatchObject({ code: "runtime_crashed", retryable: true });
  });
});

describe("factsOf()", () => {
  it("returns nothing when the model was unloaded", () => {
    expect(factsOf(ending({ signal: "SIGKILL", isRequested: true }))).toEqual({});
  });

  it("returns the signal of a crash and the reason of a kill", () => {
    expect(factsOf(ending({ signal: "SIGSEGV" }))).toEqual({ code: null, signal: "SIGSEGV", stderrTail: "" });
    const killed = ending({ signal: "SIGKILL", isRequested: true, killReason: "it did not end in time" });
    expect(factsOf(killed)).toMatchObject({ killReason: "it did not end in time", killedAs: "runtime_crashed" });
  });
});
