import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { call } from "../../support/http/http.ts";
import { runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { signIn } from "../../support/operator.ts";

type Account = Awaited<ReturnType<TestCoordinator["createAccount"]>>;

let coordinator: TestCoordinator;
let client: Account;
let owner: Account;
/** Session token of an operator. */
let operator: string;

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ restartGraceS: 0.1 });
  client = await coordinator.createAccount("client@example.com");
  owner = await coordinator.createAccount("owner@example.com");
  operator = await signIn(coordinator, "operator@example.com", { isOperator: true });
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const api = (account: Pick<Account, "key">, method: string, path: string, body?: unknown) =>
  call(coordinator.url, account.key, method, path, body);

/** An Island that claims to be proven, and answers chats. */
async function joinIsland({ islandToken }: Account): Promise<{ island: FakeIsland; chats: Assign[] }> {
  const features = ["chat.raw", "trust.proven"];
  const island = await FakeIsland.join(coordinator.url, islandToken, { hostId: randomUUID(), features });
  const chats: Assign[] = [];
  island.handle((frame) => {
    if (frame.type !== "assign") return;
    chats.push(frame);
    island.send(...runFrames(frame, "Hello"));
  });
  return { island, chats };
}

async function submit(fields: object, account: Pick<Account, "key"> = client): Promise<string> {
  const body = { workload: "tiny-chat", input: { prompt: "Hi" }, ...fields };
  return (await api(account, "POST", "/jobs", body)).body.data.id;
}

const jobOf = async (id: string, wait = 0) => (await api(client, "GET", `/jobs/${id}?wait=${wait}`)).body.data;

async function setStanding(state: string): Promise<void> {
  const path = `/operator/standings/${owner.id}/tiny-chat`;
  expect((await call(coordinator.url, operator, "PUT", path, { state, reason: "known" })).status).toBe(200);
}

describe("a job of the trust proven", () => {
  it("waits while all owners are new, names its trust, and runs once an owner is proven", async () => {
    const { island, chats } = await joinIsland(owner);
    const id = await submit({ trust: "proven" });
    expect(await jobOf(id)).toMatchObject({
      status: "pending",
      trust: "proven",
      audit: "default",
      waiting: { reason: "no_island_fits", message: expect.stringContaining('the job\'s trust "proven" demands') },
    });
    expect(await jobOf(await submit({}), 20)).toMatchObject({ status: "completed", trust: "any" });
    await setStanding("proven");
    expect(await jobOf(id, 20)).toMatchObject({ status: "completed", trust: "proven" });
    await setStanding("new");
    expect((await jobOf(await submit({ trust: "proven" }))).status).toBe("pending");
    expect(chats).toHaveLength(2);
    await island[Symbol.asyncDispose]();
  });

  it("keeps its trust over a restart", async () => {
    const id = await submit({ trust: "proven" });
    await coordinator.stop();
    await coordinator.start();
    const { island } = await joinIsland(owner);
    expect(await jobOf(id)).toMatchObject({
      status: "pending",
      waiting: { message: expect.stringContaining("trust") },
    });
    await island[Symbol.asyncDispose]();
  });

  it("fails with a message that names its trust if it is a chat", async () => {
    const { island } = await joinIsland(owner);
    const messages = [{ role: "user", content: "Hi" }];
    const { status, body } = await api(client, "POST", "/chat/completions", { messages, trust: "proven" });
    expect([status, body.error.message]).toEqual([503, expect.stringContaining('the job\'s trust "proven"')]);
    await island[Symbol.asyncDispose]();
  });
});

it("a job of the trust own runs only on Islands of its account", async () => {
  const other = await joinIsland(owner);
  const id = await submit({ trust: "own" });
  expect(await jobOf(id)).toMatchObject({
    trust: "own",
    waiting: { reason: "own_islands_only", message: expect.stringContaining('its trust is "own"') },
  });
  const own = await joinIsland(client);
  expect((await jobOf(id, 20)).status).toBe("completed");
  expect([own.chats.length, other.chats.length]).toEqual([1, 0]);
  await Promise.all([own, other].map(({ island }) => island[Symbol.asyncDispose]()));
});

it("a key's trust applies to requests that name none, and a change of it at once", async () => {
  const { body } = await api(client, "POST", "/api-keys", { name: "careful", trust: "proven" });
  expect(body.data).toMatchObject({ trust: "proven" });
  const key = { key: body.key as string };
  expect(await jobOf(await submit({}, key))).toMatchObject({ trust: "proven" });
  expect(await jobOf(await submit({ trust: "any" }, key))).toMatchObject({ trust: "any" });
  const changed = await api(client, "PATCH", `/api-keys/${body.data.id}`, { trust: "own" });
  expect(changed.body.data).toMatchObject({ trust: "own" });
  expect(await jobOf(await submit({}, key))).toMatchObject({ trust: "own" });
  expect((await api(client, "GET", "/api-keys")).body.data[0]).toMatchObject({ trust: "own" });
});

it("every job of a batch has the trust and the refusal of audits", async () => {
  const inputs = [{ prompt: "a" }, { prompt: "b" }];
  const terms = { trust: "proven", audit: "never" };
  const { body } = await api(client, "POST", "/jobs/batch", { workload: "tiny-chat", inputs, ...terms });
  const jobs = await Promise.all(body.data.jobs.map(({ id }: { id: string }) => jobOf(id)));
  expect(jobs).toMatchObject([terms, terms]);
});

it("every endpoint for chats and texts accepts the trust and the refusal of audits", async () => {
  const { island } = await joinIsland(owner);
  await setStanding("trusted");
  const terms = { model: "tiny-chat", trust: "proven", audit: "never" };
  const messages = [{ role: "user", content: "Hi" }];
  const requests: [string, object][] = [
    ["/chat/completions", { messages }],
    ["/completions", { prompt: "Hi" }],
    ["/responses", { input: "Hi" }],
    ["/messages", { messages, max_tokens: 9 }],
  ];
  for (const [path, body] of requests) {
    // oxlint-disable-next-line no-await-in-loop -- The Island has few slots.
    const { status, body: made } = await api(client, "POST", path, { ...body, ...terms });
    expect([path, status]).toEqual([path, 200]);
    // oxlint-disable-next-line no-await-in-loop
    expect(await jobOf(made.id.replace(/^resp_/, "job_"))).toMatchObject({ trust: "proven", audit: "never" });
  }
  await island[Symbol.asyncDispose]();
});

it("a job whose client refuses audits is not audited, not even by operators", async () => {
  const reader = await coordinator.createAccount("reader@example.com");
  const features = ["chat.read"];
  const readers = await FakeIsland.join(coordinator.url, reader.islandToken, { hostId: randomUUID(), features });
  const { island } = await joinIsland(owner);
  // Only the owner's Island runs raw prompts.
  const id = await submit({ audit: "never", input: { prompt: "Hi", raw: true } });
  const done = await jobOf(id, 20);
  expect(done).toMatchObject({ status: "completed", audit: "never" });
  await expect.poll(async () => (await jobOf(id)).verification).toMatchObject({ verdict: "not_chosen", readers: 0 });
  const refused = await call(coordinator.url, operator, "POST", `/operator/jobs/${id}/audit`);
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('audit: "never"')]);
  await Promise.all([island, readers].map((each) => each[Symbol.asyncDispose]()));
});
