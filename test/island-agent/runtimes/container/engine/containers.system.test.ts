import { afterAll, describe } from "vitest";
import { startTestEngine } from "../../../../support/servers/container-engine.ts";
import { describeImages } from "./images.cases.ts";
import { describeIsolation } from "./isolation.cases.ts";
import { describeKilled } from "./killed.cases.ts";
import { describeNetwork } from "./network.cases.ts";
import { describeContainers } from "./runtime.cases.ts";
import { describeSweep } from "./sweep.cases.ts";
import { describeWarm } from "./warm.cases.ts";

const engine = await startTestEngine();

describe("containers", () => {
  afterAll(() => engine.stop());
  describeIsolation(() => engine);
  describeImages(() => engine);
  describeKilled(() => engine);
  describeNetwork(() => engine);
  describeContainers(() => engine);
  describeSweep(() => engine);
  // This test runs last, because it stops the engine.
  describeWarm(() => engine);
});
