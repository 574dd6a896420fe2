import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PROVEN_AFTER } from "../../../coordinator/credits/standing.ts";
import { SEEDED_FEATURE } from "../../../shared/features/cargo-features.ts";
import type { JsonValue } from "../../../shared/json-value.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { call } from "../../support/http/http.ts";
import { beginFrames, failedFrame, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { makeIslandState } from "../../support/network/frames.ts";
import { signIn } from "../../support/operator.ts";
import { encodePng } from "../../support/models/test-images.ts";

type Account = Awaited<ReturnType<TestCoordinator["createAccount"]>>;
type Answer = (input: Assign["input"]) => JsonValue;

const RUNTIMES = (["wasm", "onnx", "diffusers"] as const).map((type) => ({ type, version: "test" }));

let coordinator: TestCoordinator;
let client: Account;
let islands: FakeIsland[];
beforeEach(async () => {
  islands = [];
  coordinator = await TestCoordinator.open();
  client = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  await Promise.all(islands.map((island) => island[Symbol.asyncDispose]()));
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

/** Joins an Island of a new owner, whose jobs return `answer`. */
async function joinIsland(name: string, answer: Answer, features: readonly string[] = [SEEDED_FEATURE]) {
  const owner = await coordinator.createAccount(`${name}@example.com`);
  const state = makeIslandState({ loaded: ["base64", "python-sandbox", "tiny-picture"] });
  const hello = { hostId: randomUUID(), features: [...features], slots: 4, runtimes: RUNTIMES, state };
  const island = await FakeIsland.join(coordinator.url, owner.islandToken, hello);
  islands.push(island);
  const assigned: Assign[] = [];
  island.handle((frame) => {
    if (frame.type !== "assign") return;
    assigned.push(frame);
    const output = answer(frame.input);
    const end =
      output === "fails"
        ? failedFrame(frame, 1, "invalid_input")
        : finishedFrame(frame, 1, { output, promptTokens: 0 });
    island.send(...beginFrames(frame), end);
  });
  return { owner, assigned };
}

const encode: Answer = (input) => ({ data: Buffer.from(String(input["data"])).toString("base64") });
const lie: Answer = () => ({ data: "AAAA" });

let nth = 0;
async function run(workload: string, input: object): Promise<string> {
  const { body: made } = await call(coordinator.url, client.key, "POST", "/jobs", { workload, input });
  const { body: done } = await call(coordinator.url, client.key, "GET", `/jobs/${made.data.id}?wait=20`);
  expect(done.data.status).toBe("completed");
  return made.data.id;
}
const runBase64 = (): Promise<string> => run("base64", { data: `text ${(nth += 1)}` });

const jobOf = async (id: string) => (await call(coordinator.url, client.key, "GET", `/jobs/${id}`)).body.data;
const verdictOf = async (id: string) => (await jobOf(id)).verification?.verdict;
const creditsOf = async ({ key }: Account): Promise<number> =>
  (await call(coordinator.url, key, "GET", "/account")).body.data.credits;

function standingOf({ id }: Account) {
  const [row] = coordinator.runSql("SELECT standing FROM standings WHERE owner_account_id = ?", id);
  const { standing = '{"state":"new","streak":0}' } = (row ?? {}) as { standing?: string };
  return JSON.parse(standing) as { state: string; streak: number; reason: string | null };
}
const unsettled = () => coordinator.runSql("SELECT id FROM audits WHERE verdict = 'due'");

it("an owner is paid once other owners got the same results from ten of its jobs", async () => {
  const islands = [await joinIsland("one", encode), await joinIsland("two", encode)];
  const before = new Map(await Promise.all(islands.map(async ({ owner }) => [owner, await creditsOf(owner)] as const)));
  const findProven = () => islands.find(({ owner }) => standingOf(owner).state === "proven");
  // The scheduler decides which of them gets more jobs.
  for (let count = 0; count < 2 * PROVEN_AFTER && findProven() === undefined; count += 1) {
    await runBase64();
    await expect.poll(unsettled).toEqual([]);
  }
  const proven = findProven() ?? expect.fail("No owner is proven");
  expect(standingOf(proven.owner).streak).toBeGreaterThanOrEqual(PROVEN_AFTER);
  await expect.poll(() => creditsOf(proven.owner)).toBeGreaterThan(before.get(proven.owner) ?? 0);
  for (const { assigned } of islands) expect(assigned.length).toBeGreaterThanOrEqual(PROVEN_AFTER);
  // Repeats are not repeated again.
  const audits = "SELECT count(*) AS count FROM audits WHERE client_account_id <> ? AND verdict <> 'none'";
  expect(coordinator.runSql(audits, client.id)).toEqual([{ count: 0 }]);
});

it("an owner that returns other results gets no more jobs, and its clients get their credits back", async () => {
  const liar = await joinIsland("liar", lie);
  const honest = await Promise.all(["first", "second", "third"].map((name) => joinIsland(name, encode)));
  const jobs: string[] = [];
  for (let count = 0; count < 100 && standingOf(liar.owner).state === "new"; count += 1) {
    jobs.push(await runBase64());
    await expect.poll(unsettled).toEqual([]);
  }
  expect(standingOf(liar.owner)).toMatchObject({ state: "quarantined" });
  for (const { owner } of honest) expect(standingOf(owner).state).not.toBe("quarantined");
  await expect
    .poll(() => coordinator.runSql("SELECT DISTINCT earning FROM audits WHERE owner_account_id = ?", liar.owner.id))
    .toEqual([{ earning: "refunded" }]);
  const { length } = liar.assigned;
  for (let count = 0; count < 10; count += 1) await runBase64();
  expect(liar.assigned).toHaveLength(length);
  await coordinator.withStore(async (store) => {
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
  });
});

it("if all Islands return something else, no owner is blamed", async () => {
  const random: Answer = () => ({ data: randomUUID() });
  const owners = await Promise.all(["one", "two", "three", "four"].map((name) => joinIsland(name, random)));
  const jobs = [await runBase64(), await runBase64()];
  for (const id of jobs) await expect.poll(() => verdictOf(id)).toBe("unclear");
  for (const { owner } of owners) expect(standingOf(owner)).toMatchObject({ state: "new", streak: 0 });
});

it("a repeat that fails because of the input blames no owner", async () => {
  const honest = await joinIsland("honest", encode);
  await joinIsland("other", () => "fails");
  const id = await runBase64();
  await expect.poll(() => verdictOf(id)).toBe("unclear");
  expect(standingOf(honest.owner)).toMatchObject({ state: "new", streak: 0 });
});

it("jobs of interpreters are repeated only by agents that seed them, for owners of such agents", async () => {
  const answer: Answer = () => ({ stdout: "", result: 1, error: null });
  const older = await joinIsland("older", answer, []);
  await joinIsland("newer", answer);
  const verdicts = new Map<string, string>();
  for (let count = 0; count < 100 && verdicts.size < 2; count += 1) {
    const { length } = older.assigned;
    const id = await run("python-sandbox", { code: `result = ${count}` });
    await expect.poll(unsettled).toEqual([]);
    verdicts.set(older.assigned.length > length ? "older" : "newer", (await verdictOf(id)) ?? "paid");
  }
  // No seeded Island of another owner can repeat the jobs of the newer one.
  expect(Object.fromEntries(verdicts)).toEqual({ older: "not_chosen", newer: "paid" });
});

it("an image is made again from the seed that the coordinator drew, and may differ a little", async () => {
  const paint = (shift: number): Answer => {
    return ({ seed }) => {
      const left = (Number(seed) % 20) + shift;
      const png = encodePng(64, 64, [{ colour: "red", left, top: 10, right: left + 25, bottom: 40 }]);
      return { format: "png", data: png.toString("base64") };
    };
  };
  await joinIsland("one", paint(0));
  await joinIsland("two", paint(1));
  const id = await run("tiny-picture", { prompt: "a red square" });
  expect((await jobOf(id)).input).toEqual({ prompt: "a red square", seed: expect.any(Number) });
  await expect.poll(() => verdictOf(id)).toBe("consistent");
});

it("a job can be repeated again for an operator", async () => {
  const operator = await signIn(coordinator, "op@example.com", { isOperator: true });
  await Promise.all(["one", "two"].map((name) => joinIsland(name, encode)));
  const id = await runBase64();
  await expect.poll(() => verdictOf(id)).toBe("consistent");
  expect((await call(coordinator.url, operator, "POST", `/operator/jobs/${id}/audit`)).status).toBe(202);
  await expect.poll(async () => (await jobOf(id)).verification.readers).toBeGreaterThanOrEqual(2);
});
