import { InferenceSession, Tensor } from "onnxruntime-node";
import { beforeAll, describe, expect, it } from "vitest";
import { SessionGate } from "../../../../island-agent/runtimes/onnx/session-gate.ts";
import { makeOnnx } from "../../../support/models/tiny-onnx.ts";
import { NEVER } from "./onnx-support.ts";

const value = (name: string) => ({ name, type: "float32", shape: [1] }) as const;

describe("SessionGate", () => {
  let gate: SessionGate;
  let session: InferenceSession;
  beforeAll(async () => {
    gate = await SessionGate.install({ intraOpNumThreads: 1, interOpNumThreads: 1 });
    const node = { operator: "Identity", inputs: ["x"], output: "y" };
    session = await InferenceSession.create(makeOnnx([node], [value("x")], [value("y")]));
  });
  const step = (): Promise<unknown> => session.run({ x: new Tensor("float32", [1], [1]) });

  it("starts no more steps after the signal is aborted", async () => {
    const controller = new AbortController();
    let steps = 0;
    const work = gate.during(controller.signal, async () => {
      for (;;) {
        await step();
        steps += 1;
        if (steps === 3) controller.abort(new Error("enough"));
      }
    });
    await expect(work).rejects.toThrow("enough");
    expect(steps).toBe(3);
  });

  it("runs more steps after aborted work", async () => {
    await gate.during(AbortSignal.abort(), step).catch(() => {});
    await expect(step()).resolves.toHaveProperty("y");
    await expect(gate.during(NEVER, step)).resolves.toHaveProperty("y");
  });

  it("reports each step until the work ends", async () => {
    let steps = 0;
    await gate.during(NEVER, async () => {
      gate.onStep(() => steps++);
      await step();
      await step();
    });
    await step();
    expect(steps).toBe(2);
  });
});
