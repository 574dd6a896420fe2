import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkCoordinator, type Joined } from "../../../island-agent/doctor/coordinator-check.ts";
import { isProblem, type CoordinatorState } from "../../../island-agent/doctor/examination.ts";
import { fingerprintOf } from "../../../shared/cargo-signature.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ISLAND_TOKEN } from "../builders.ts";
import { ScriptedCoordinator } from "../scripted-coordinator.ts";

/** Public key of RFC 8032 §7.1, TEST 1. */
const OTHER_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const NOT_CHECKED = "not checked: it is sent only to a coordinator with the pinned key";

let coordinator: ScriptedCoordinator;
beforeEach(async () => {
  coordinator = await ScriptedCoordinator.open();
  coordinator.isHealthy = true;
});
afterEach(() => coordinator[Symbol.asyncDispose]());

async function check(override: Partial<Joined> = {}): Promise<CoordinatorState> {
  const joined = { token: ISLAND_TOKEN, publicKey: coordinator.publicKey, accountId: "user_1", ...override };
  const state = await checkCoordinator(coordinator.url, joined, systemClock);
  return isProblem(state) ? expect.fail(state.problem) : state;
}
const tokensShown = (): string[] => coordinator.requests.flatMap(({ authorization }) => authorization ?? []);

describe("checkCoordinator()", () => {
  it("returns no problem if key, token and account are those of the join", async () => {
    expect(await check()).toMatchObject({ url: coordinator.url, keyProblem: null, tokenProblem: null });
    expect(tokensShown()).toEqual([`Bearer ${ISLAND_TOKEN}`]);
  });

  it("reports a changed key with advice, without sending the token", async () => {
    coordinator.shownKey = OTHER_KEY;
    const { keyProblem, tokenProblem } = await check();
    expect(keyProblem).toContain(`got ${fingerprintOf(OTHER_KEY)}. Ask the operator`);
    expect(tokenProblem).toBe(NOT_CHECKED);
    expect(tokensShown()).toEqual([]);
  });

  it("reports that no key is pinned", async () => {
    expect(await check({ publicKey: null })).toMatchObject({
      keyProblem: expect.stringMatching(/^no key is pinned, .*Join again/) as string,
      tokenProblem: NOT_CHECKED,
    });
  });

  it("reports a rejected or missing token", async () => {
    coordinator.refusals.push(401);
    expect((await check()).tokenProblem).toBe("the coordinator rejected the token");
    expect((await check({ token: null })).tokenProblem).toMatch(/^not set\. Join with/);
  });

  it.each([
    [null, "no account"],
    ["user_2", "user_2"],
  ])("reports a token of another account than %j", async (accountId, words) => {
    expect((await check({ accountId })).tokenProblem).toMatch(`belongs to user_1, but the settings contain ${words}`);
    coordinator.account = null;
    expect((await check({ accountId })).tokenProblem).toBeNull();
  });
});
