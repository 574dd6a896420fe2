import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkCoordinator } from "../../../island-agent/doctor/coordinator-check.ts";
import { isProblem } from "../../../island-agent/doctor/examination.ts";
import { measureMatrix, measureTokens } from "../../../island-agent/doctor/measure-speed.ts";
import { llmcppRuntime } from "../../../island-agent/runtimes/llmcpp/llmcpp-runtime.ts";
import { onnxRuntime } from "../../../island-agent/runtimes/onnx/onnx-runtime.ts";
import { checkToken } from "../../../island-agent/session/check-token.ts";
import { systemClock } from "../../../shared/clock.ts";
import { itInFullRun } from "../../support/soak-rounds.ts";
import { TestCoordinator } from "../../support/test-coordinator.ts";

const TINY_ISLANDER = join(import.meta.dirname, "..", "..", "..", "catalog", "models", "tiny-islander.gguf");
const NOT_JOINED = { token: null, publicKey: null, accountId: null };
let coordinator: TestCoordinator;
let islandToken: string;

beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  ({ islandToken } = await coordinator.createAccount("host@example.com"));
});
afterAll(() => coordinator[Symbol.asyncDispose]());

describe("checkCoordinator()", () => {
  it("measures how long it takes to answer, and tries key and token", async () => {
    const shown = await checkToken(coordinator.url, islandToken);
    if (!shown.ok) expect.fail(shown.reason);
    const { publicKey, accountId } = shown;
    const joined = { token: islandToken, publicKey, accountId };
    expect(await checkCoordinator(coordinator.url, joined, systemClock)).toEqual({
      url: coordinator.url,
      latencyMs: expect.any(Number),
      pinnedKey: publicKey,
      keyProblem: null,
      tokenProblem: null,
    });
    const wrong = await checkCoordinator(coordinator.url, { ...joined, token: `it_${"x".repeat(40)}` }, systemClock);
    expect(wrong).toMatchObject({ keyProblem: null, tokenProblem: "the coordinator does not accept the token" });
  });

  it.each([
    ["nothing answers", () => "http://127.0.0.1:1", /cannot be reached: .+/],
    ["it is no coordinator", () => `${coordinator.url}/elsewhere`, /answered 404: is it a coordinator/],
  ])("says so when %s", async (_title, url, problem) => {
    expect(await checkCoordinator(url(), NOT_JOINED, systemClock)).toEqual({ problem: expect.stringMatching(problem) });
  });
});

describe("measureTokens()", () => {
  const runtime = llmcppRuntime({ threads: 1, gpu: false, sequences: 1, clock: systemClock });

  it("measures a real model", async () => {
    const rate = await measureTokens(runtime, TINY_ISLANDER, systemClock);
    expect(rate).toEqual({ tokensPerSecond: expect.any(Number), model: "tiny-islander.gguf" });
    expect(isProblem(rate) ? 0 : rate.tokensPerSecond).toBeGreaterThan(0);
  });

  it("says so when it takes too long", async () => {
    const rate = await measureTokens(runtime, TINY_ISLANDER, systemClock, 1);
    expect(rate).toEqual({ problem: "it takes longer than 0.001 s" });
  });

  itInFullRun("says why a model could not be measured", async () => {
    const rate = await measureTokens(runtime, import.meta.filename, systemClock);
    expect(rate).toEqual({ problem: expect.stringContaining("not a readable GGUF file") });
  });
});

describe("measureMatrix()", () => {
  it("says so when it takes too long", async () => {
    const runtime = onnxRuntime({ threads: 1, clock: systemClock });
    expect(await measureMatrix(runtime, systemClock, 1)).toEqual({ problem: "it takes longer than 0.001 s" });
  });

  it("measures ONNX Runtime's products", async () => {
    const rate = await measureMatrix(onnxRuntime({ threads: 1, clock: systemClock }), systemClock);
    expect(rate).toEqual({ gigaflops: expect.any(Number), size: 512 });
    expect(isProblem(rate) ? 0 : rate.gigaflops).toBeGreaterThan(0);
  });
});
