import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MESSAGES } from "../../../coordinator/cluster/messages.ts";
import { REFUSE_AFTER_MS } from "../../../coordinator/dispatch/unrunnable-jobs.ts";
import type { JobHandle, SubmitRequest } from "../../../coordinator/jobs/submitted-job.ts";
import type { Outlook } from "../../../coordinator/scheduler/shared-work.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { peerOf, peersOn } from "../cluster/peers-on.ts";
import { GRACE_MS, JobWorld, RESTART_GRACE_MS } from "../jobs/job-world.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
let store: SqliteStore;
let world: JobWorld;
let accountId: string;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  accountId = await makeAccount(store, { grantMicro: 10_000_000 });
  world = new JobWorld(store, clock);
  clock.advance(RESTART_GRACE_MS);
});
afterEach(async () => {
  await world.settle();
  expect(world.fatal).toEqual([]);
  world.close();
  await store.close();
  folder[Symbol.dispose]();
});

const submit = (wait: Pick<SubmitRequest, "waitLimitMs"> = { waitLimitMs: 300_000 }): Promise<JobHandle> =>
  world.jobs.submit({
    accountId,
    slug: "cheap",
    input: { prompt: "Hi" },
    priority: 0,
    idempotency: null,
    ...wait,
  });
const wait = async (ms = REFUSE_AFTER_MS): Promise<void> => {
  clock.advance(ms);
  await world.settle();
};
const stateOf = async ({ record }: JobHandle) => (await world.jobs.get(accountId, record.id)).state;
const unfit = { runtimes: [{ type: "onnx" as const, version: "1" }] };
const LACK = "no online Island offers llmcpp";

it("a chat or conversation is refused at once if no Island of any coordinator can run its job", async () => {
  await using coordinator = await TestCoordinator.open({ restartGraceS: 0 });
  const { key, islandToken } = await coordinator.createAccount("client@example.com");
  await using _island = await FakeIsland.join(coordinator.url, islandToken, unfit);
  const messages = [{ role: "user", content: "Hi" }];
  const body = { model: "tiny-chat", stream: true, messages };
  const answer = await call(coordinator.url, key, "POST", "/chat/completions", body);
  expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([503, "false"]);
  expect(answer.body.error.message).toContain(LACK);
  const conversation = await call(coordinator.url, key, "POST", "/conversations", { model: "tiny-chat" });
  const path = `/conversations/${conversation.body.data.id}/messages`;
  const message = await call(coordinator.url, key, "POST", path, { content: "Hi" });
  expect([message.status, message.headers.get("x-should-retry")]).toEqual([503, "false"]);
  expect(message.body.error.message).toContain(LACK);
});

describe("a job whose client waits for the answer", () => {
  it("is refused after three seconds with the reason, free of charge, if no Island can run it", async () => {
    await PlayedIsland.join(world, accountId, unfit);
    const job = await submit();
    await wait(REFUSE_AFTER_MS - 1);
    expect(await stateOf(job)).toBe("pending");
    await wait(1);
    const message = `No Island can run this job: ${LACK}`;
    expect((await job.openFeed()).ending).toEqual({ type: "error", code: "no_island_fits", message, retryable: false });
    expect(await stateOf(job)).toBe("failed");
    expect((await store.accounts.get(accountId))?.balanceMicro).toBe(10_000_000);
  });

  it("keeps waiting if its client does not wait for the answer", async () => {
    await PlayedIsland.join(world, accountId, unfit);
    const job = await submit({});
    await wait();
    expect(await stateOf(job)).toBe("pending");
  });

  it("waits while no Island is online, and is refused once one is online that cannot run it", async () => {
    const job = await submit();
    await wait();
    expect(await stateOf(job)).toBe("pending");
    await PlayedIsland.join(world, accountId, unfit);
    await wait();
    expect(await stateOf(job)).toBe("failed");
  });

  it("waits for an Island that fits and left, until its grace period is over", async () => {
    await PlayedIsland.join(world, accountId, unfit);
    const island = await PlayedIsland.join(world, accountId);
    island.lose();
    const job = await submit();
    await wait(GRACE_MS - 1_000);
    expect(await stateOf(job)).toBe("pending");
    await wait(2 * REFUSE_AFTER_MS);
    expect(await stateOf(job)).toBe("failed");
  });

  it("ends with the report of the only Island that tried it, if no other is left to confirm it", async () => {
    await PlayedIsland.join(world, accountId, unfit);
    const island = await PlayedIsland.join(world, accountId);
    const job = await submit();
    const other = await PlayedIsland.join(world, accountId);
    await submit();
    const { jobId, attempt } = island.assign;
    await island.say({ type: "failed", jobId, attempt, seq: 1, code: "invalid_input", message: "", retryable: false });
    expect(await stateOf(job)).toBe("pending");
    island.lose();
    other.lose();
    await wait(GRACE_MS + REFUSE_AFTER_MS);
    expect((await job.openFeed()).ending).toMatchObject({ type: "error", code: "invalid_input" });
  });

  it("waits for busy Islands", async () => {
    await PlayedIsland.join(world, accountId);
    await submit();
    const job = await submit();
    await wait();
    expect(await stateOf(job)).toBe("pending");
  });

  it("waits while the coordinator has just started", async () => {
    world.close();
    world = new JobWorld(store, clock);
    await PlayedIsland.join(world, accountId, unfit);
    const job = await submit();
    await wait(RESTART_GRACE_MS - 1);
    expect(await stateOf(job)).toBe("pending");
    await wait();
    expect(await stateOf(job)).toBe("failed");
  });

  it.each<[string, (Outlook | null)[], string]>([
    ["waits if one of them may run it", [{ is: "lacking", message: "x" }, { is: "possible" }], "pending"],
    ["waits if one of them does not respond", [{ is: "absent" }, null], "pending"],
    ["is refused if none of them can run it", [{ is: "absent" }, { is: "lacking", message: "x" }], "failed"],
  ])("with other coordinators: %s", async (_title, outlooks, state) => {
    const ids = outlooks.map((_, index) => `other_${index}`);
    world.peers.setLive([world.peers.self, ...ids.map(peerOf)]);
    outlooks.forEach((outlook, index) => {
      peersOn(world.bus, ids[index] ?? "").handle(MESSAGES.outlook, () => outlook ?? expect.fail("It does not say"));
    });
    await PlayedIsland.join(world, accountId, unfit);
    const job = await submit();
    await wait();
    expect(await stateOf(job)).toBe(state);
    if (state === "failed")
      expect((await job.openFeed()).ending).toMatchObject({
        message: `No Island can run this job: ${LACK}; at another coordinator: x`,
      });
  });
});
