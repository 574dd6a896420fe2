import { describe, expect, it } from "vitest";
import { CargoGone } from "../../../../island-agent/runtimes/runtime.ts";
import { isRunning } from "../llmcpp/llmcpp-support.ts";
import { loadPainter, NEVER, paint, pipelineFixture } from "./diffusers-support.ts";
import { killIfAlive } from "../../../support/kill-if-alive.ts";

const LONG = { prompt: "a red picture", seed: 7, steps: 200, width: 128, height: 128 };
const SHORT = { ...LONG, steps: 2 };
/** Its steps take so long that this process can react to one of them even on a loaded machine. */
const LARGE = { ...LONG, width: 1_024, height: 1_024 };
const load = (killAfterMs = 60_000) => loadPainter(pipelineFixture("tiny-sd"), {}, { killAfterMs });

function pidOf({ pid }: { readonly pid: number | undefined }): number {
  if (pid === undefined) throw new Error("the host has no process");
  return pid;
}

describe("an aborted image", () => {
  it("stops after the current step, and its process then returns unchanged results", async () => {
    await using painter = await load();
    const before = await paint(painter, SHORT);
    const controller = new AbortController();
    let steps = 0;
    const running = painter.run(
      { input: LONG, resume: null },
      () => {
        steps += 1;
        if (steps === 3) controller.abort(new Error("enough"));
      },
      controller.signal,
    );
    const pid = pidOf(painter);
    await expect(running).rejects.toThrow("enough");
    expect(steps).toBe(3);
    expect((await paint(painter, SHORT)).data).toBe(before.data);
    expect(painter.pid).toBe(pid);
  });

  it("is killed if the step does not end in time, and a waiting run rejects with CargoGone", async () => {
    const painter = await load(1);
    const pid = pidOf(painter);
    const controller = new AbortController();
    // A step takes far longer than 1 ms.
    const running = painter.run(
      { input: LARGE, resume: null },
      () => controller.abort(new Error("enough")),
      controller.signal,
    );
    const waiting = paint(painter, SHORT);
    await expect(running).rejects.toThrow("enough");
    await expect(waiting).rejects.toBeInstanceOf(CargoGone);
    await painter.gone;
    expect(isRunning(pid)).toBe(false);
  });
});

describe("a host process that ends during a step", () => {
  it.each([
    ["SIGKILL", "The ONNX Runtime process was killed (SIGKILL), probably because memory ran out"],
    ["SIGSEGV", "The ONNX Runtime process crashed (SIGSEGV)"],
  ] as const)("with %s fails its image as retryable, and the next load works", async (signal, message) => {
    const doomed = await load();
    const running = doomed.run({ input: LARGE, resume: null }, () => killIfAlive(pidOf(doomed), signal), NEVER);
    await expect(running).rejects.toMatchObject({ code: "runtime_crashed", retryable: true, message });
    await doomed.gone;
    await using next = await load();
    await expect(paint(next, SHORT)).resolves.toMatchObject({ width: 128 });
  });
});
