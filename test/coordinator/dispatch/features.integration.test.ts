import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { CHAT_FILE } from "../catalog/cargo-builders.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);
const join = (hello: object) =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID(), ...hello });
const detail = async (id: string) => (await api("GET", `/jobs/${id}`)).body.data;
const submit = async (input: object): Promise<string> =>
  (await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi", ...input } })).body.data.id;

it("a job with options that an older agent would ignore waits for a newer agent, with the reason", async () => {
  await using old = await join({});
  const id = await submit({ top_k: 1 });
  expect((await detail(id)).waiting).toMatchObject({
    reason: "no_island_fits",
    message: expect.stringContaining("lacks the feature chat.sampling2"),
  });
  const plain = await submit({});
  expect((await old.next("assign")).jobId).toBe(plain);
  await using later = await join({ features: ["chat.sampling2", "unheard.of"] });
  const assign = await later.next("assign");
  expect([assign.jobId, assign.input.top_k]).toEqual([id, 1]);
});

it("a raw prompt needs an agent that can skip the chat template", async () => {
  const id = await submit({ raw: true });
  await using later = await join({ features: ["chat.raw"] });
  const assign = await later.next("assign");
  expect([assign.jobId, assign.input.raw]).toEqual([id, true]);
});

it("a model in several files needs an agent that loads all of them", async () => {
  const model = { url: "hf:owner/repo/x-00001-of-00002.gguf", sha256: "a".repeat(64), size_bytes: 5 };
  const parts = [{ url: "hf:owner/repo/x-00002-of-00002.gguf", sha256: "b".repeat(64), size_bytes: 7 }];
  const needs = { required_ram_mb: 0, required_vram_mb: 0 };
  const made = await api("POST", "/cargos", { ...CHAT_FILE, ...needs, slug: "split", model, parts });
  expect(made.status).toBe(201);
  await using _old = await join({});
  const { body } = await api("POST", "/jobs", { workload: "split", input: { prompt: "Hi" } });
  const { id } = body.data;
  expect((await detail(id)).waiting.message).toContain("lacks the feature llmcpp.parts");
  await using later = await join({ features: ["llmcpp.parts"] });
  const assign = await later.next("assign");
  expect([assign.jobId, assign.cargo.parts]).toEqual([
    id,
    [{ url: parts[0]?.url, sha256: "b".repeat(64), sizeBytes: 7 }],
  ]);
});

it.each([
  [{ system_prompt: "x" }, "input.raw"],
  [{ response_format: { type: "json_object" } }, "input.response_format"],
])("a raw prompt with %j gets a 422", async (input, path) => {
  const body = { workload: "tiny-chat", input: { prompt: "Hi", raw: true, ...input } };
  const { status, body: answer } = await api("POST", "/jobs", body);
  expect([status, answer.error.details[0].path]).toEqual([422, path]);
});

it("the features of a job are kept over a restart, even if it is first assigned to an Island without them", async () => {
  const id = await submit({ min_p: 0.1 });
  await coordinator.stop();
  await coordinator.start();
  await using old = await join({});
  await expect.poll(async () => (await detail(id)).waiting?.message).toContain("chat.sampling2");
  const plain = await submit({});
  expect((await old.next("assign")).jobId).toBe(plain);
  await using later = await join({ features: ["chat.sampling2"] });
  const assign = await later.next("assign");
  expect(assign.jobId).toBe(id);
  later.send(...beginFrames(assign), outputFrame(assign, 1, "a"), finishedFrame(assign, 2));
  await expect.poll(async () => (await detail(id)).status).toBe("completed");
});

it.each([{ features: ["Chat tools"] }, { features: Array.from({ length: 33 }, (_, index) => `f${index}`) }])(
  "a hello with invalid features ends the session (%#)",
  async (hello) => {
    await expect(join(hello)).rejects.toThrow();
  },
);
