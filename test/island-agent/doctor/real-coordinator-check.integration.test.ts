import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkCoordinator } from "../../../island-agent/doctor/coordinator-check.ts";
import { checkToken } from "../../../island-agent/session/check-token.ts";
import { systemClock } from "../../../shared/clock.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const NOT_JOINED = { token: null, publicKey: null, accountId: null };
let coordinator: TestCoordinator;
let islandToken: string;

beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  ({ islandToken } = await coordinator.createAccount("host@example.com"));
});
afterAll(() => coordinator[Symbol.asyncDispose]());

describe("checkCoordinator() with a real coordinator", () => {
  it("measures the response time, and checks key and token", async () => {
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
    expect(wrong).toMatchObject({ keyProblem: null, tokenProblem: "the coordinator rejected the token" });
  });

  it.each([
    ["nothing listens", () => "http://127.0.0.1:1", /^Cannot reach \S+: .+/],
    ["the URL is not a coordinator's", () => `${coordinator.url}/elsewhere`, /responded with status 404\. Check/],
  ])("reports that %s", async (_title, url, problem) => {
    expect(await checkCoordinator(url(), NOT_JOINED, systemClock)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
