import { afterAll, describe, it } from "vitest";
import { startTestEngine, type TestEngine } from "../../../../support/container-engine.ts";
import { describeImages } from "./images.cases.ts";
import { describeIsolation } from "./isolation.cases.ts";
import { describeKilled } from "./killed.cases.ts";
import { describeNetwork } from "./network.cases.ts";
import { describeContainers } from "./runtime.cases.ts";
import { describeSweep } from "./sweep.cases.ts";
import { describeWarm } from "./warm.cases.ts";

const found = await startTestEngine();

if (typeof found === "string") {
  process.stderr.write(`Tests of containers are skipped: ${found}\n`);
  it.skip(`containers [${found}]`, () => undefined);
} else {
  const engine: TestEngine = found;
  describe("containers", () => {
    afterAll(() => engine.stop());
    describeIsolation(() => engine);
    describeImages(() => engine);
    describeKilled(() => engine);
    describeNetwork(() => engine);
    describeContainers(() => engine);
    describeSweep(() => engine);
    // Last: it stops the engine.
    describeWarm(() => engine);
  });
}
