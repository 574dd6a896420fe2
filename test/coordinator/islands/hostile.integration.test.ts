import { createHash, randomUUID } from "node:crypto";
import { pack, Packr } from "msgpackr";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { SESSION_PATH, SUBPROTOCOL, encodeFrame } from "../../../shared/protocol/codec.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello } from "../../support/network/frames.ts";
import { call, collect, jobEvents, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ islandGraceS: 0.3 });
  account = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const join = (hostId: string = randomUUID()): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId });

async function submit(input: object = { prompt: "Hi" }, workload = "tiny-chat"): Promise<string> {
  const { body } = await call(coordinator.url, account.key, "POST", "/jobs", { workload, input });
  return body.data.id as string;
}

const detail = async (jobId: string) => (await call(coordinator.url, account.key, "GET", `/jobs/${jobId}`)).body.data;
const attemptOf = ({ jobId, attempt }: Assign) => ({ jobId, attempt });
const timings = { loadMs: 0, firstOutputMs: 0, runMs: 1 };

describe("a hostile Island", () => {
  it.each([
    ["a big integer", 2n ** 70n],
    ["a date", new Date(0)],
    ["binary", Buffer.from("x")],
  ])("cannot send %s as output", async (_title, output) => {
    const island = await join();
    await submit();
    const assign = await island.next("assign");
    island.send({ type: "started", ...attemptOf(assign) });
    const usage = { promptTokens: 1, completionTokens: 1 };
    const frame = { type: "finished", ...attemptOf(assign), seq: 1, finishReason: "stop", usage, timings, output };
    island.sendRaw(new Packr({ useRecords: false, useBigIntExtension: true }).pack(frame));
    expect((await island.closed).reason).toContain("output: must be a JSON value");
  });

  it("cannot send endlessly nested output", async () => {
    const island = await join();
    await submit();
    const assign = await island.next("assign");
    let output: unknown = 0;
    for (let depth = 0; depth < 200; depth += 1) output = [output];
    island.send({ type: "started", ...attemptOf(assign) });
    const usage = { promptTokens: 1, completionTokens: 1 };
    const frame = {
      type: "finished" as const,
      ...attemptOf(assign),
      seq: 1,
      finishReason: "stop" as const,
      usage,
      timings,
    };
    island.send({ ...frame, output: output as never });
    expect((await island.closed).reason).toContain("output: must be a JSON value");
  });

  it("may send a result with very many elements", async () => {
    const runtimes = [{ type: "wasm" as const, version: "test" }];
    const island = await FakeIsland.join(coordinator.url, account.islandToken, { runtimes });
    const id = await submit({ data: "x" }, "base64");
    const assign = await island.next("assign");
    const output = { data: "x", more: Array.from({ length: 500_000 }, () => 0) };
    const usage = { promptTokens: 1, completionTokens: 1 };
    const frame = {
      type: "finished" as const,
      ...attemptOf(assign),
      seq: 1,
      finishReason: "stop" as const,
      usage,
      timings,
    };
    island.send({ type: "started", ...attemptOf(assign) }, { ...frame, output });
    await island.next("ack");
    // The result is read as a whole, and does not match the Cargo's output schema.
    expect(await detail(id)).toMatchObject({ status: "failed", error: { code: "invalid_output" } });
  });

  it("cannot claim more tokens in one item than a number can sum", async () => {
    const island = await join();
    await submit();
    const assign = await island.next("assign");
    const items = [{ type: "token" as const, content: "x", count: Number.MAX_SAFE_INTEGER }];
    island.send({ type: "started", ...attemptOf(assign) }, { type: "output", ...attemptOf(assign), seq: 1, items });
    expect((await island.closed).reason).toContain("items.0.count");
  });

  it("cannot deliver more tokens than requested, because the job then fails and its client pays nothing", async () => {
    await using island = await join();
    const before = (await call(coordinator.url, account.key, "GET", "/account")).body.data.credits as number;
    const jobId = await submit({ prompt: "Hi", max_tokens: 2 });
    const assign = await island.next("assign");
    const items = Array.from({ length: 3 }, () => ({ type: "token" as const, content: "x", count: 1 }));
    island.send({ type: "started", ...attemptOf(assign) }, { type: "output", ...attemptOf(assign), seq: 1, items });
    expect(await island.next("cancel")).toMatchObject({ jobId });
    await until(
      () => detail(jobId),
      ({ status }) => status === "failed",
      "failed",
    );
    expect((await detail(jobId)).error.code).toBe("output_too_large");
    expect((await call(coordinator.url, account.key, "GET", "/account")).body.data.credits).toBe(before);
  });

  it("cannot take a waiting job by naming it", async () => {
    const jobId = await submit();
    await using island = await FakeIsland.dial(coordinator.url, account.islandToken);
    const held = [2, Number.MAX_SAFE_INTEGER].map((attempt) => ({ jobId, attempt, claim: "guess", started: true }));
    island.send(makeHello({ held }));
    const welcome = await island.next("welcome");
    expect(welcome.held.map(({ action }) => action)).toEqual(["drop", "drop"]);
    expect(await island.next("assign")).toMatchObject({ jobId, attempt: 1 });
  });

  it("cannot use the attempt token of another Island", async () => {
    await using honest = await join();
    const jobId = await submit();
    const { claim } = await honest.next("assign");
    await using thief = await FakeIsland.dial(coordinator.url, account.islandToken);
    thief.send(makeHello({ hostId: randomUUID(), held: [{ jobId, attempt: 1, claim, started: true }] }));
    expect(await thief.next("welcome")).toMatchObject({ held: [{ action: "drop" }] });
  });

  it("is ignored after its first invalid frame", async () => {
    const island = await join();
    const jobId = await submit();
    const assign = await island.next("assign");
    island.sendRaw(pack({ type: "reboot" }));
    island.send({ type: "started", ...attemptOf(assign) });
    expect((await island.closed).code).toBe(1008);
    expect((await detail(jobId)).status).toMatch(/^(queued|pending)$/);
  });

  it("cannot change round trips with unsolicited pongs", async () => {
    const socket = new WebSocket(new URL(SESSION_PATH, coordinator.url.replace("http", "ws")), SUBPROTOCOL, {
      headers: { authorization: `Bearer ${account.islandToken}` },
    });
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(encodeFrame(makeHello({ hostId: randomUUID() })));
    await new Promise((resolve) => socket.once("message", resolve));
    const notANumber = Buffer.alloc(8);
    notANumber.writeDoubleBE(Number.NaN);
    for (let i = 0; i < 10; i += 1) socket.pong(notANumber);
    await using _other = await join();
    await submit();
    expect((await call(coordinator.url, null, "GET", "/health")).status).toBe(200);
    socket.terminate();
  });

  it("is dismissed within seconds after another process revoked its token", async () => {
    const island = await join();
    await coordinator.withStore(async (store, accounts) => {
      const token = await store.accounts.findIslandToken(hashOf(account.islandToken));
      await accounts.islandTokens.revoke(account.id, token?.id ?? "");
    });
    expect(await island.next("goodbye")).toMatchObject({ reason: "the Island token was revoked", retryAfterMs: null });
    await island.closed;
  });
});

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

describe("a coordinator that shuts down", () => {
  it("stops in order with open streams, cancels a chat, and lets the stream of a job be resumed", async () => {
    await using island = await join();
    const chat = fetch(`${coordinator.url}/api/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${account.key}`, "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], stream: true }),
    });
    const chatAssign = await island.next("assign");
    const token = { type: "token" as const, content: "x", count: 1 };
    const started = { type: "started" as const, ...attemptOf(chatAssign) };
    island.send(started, { type: "output", ...attemptOf(chatAssign), seq: 1, items: [token] });
    expect((await chat).status).toBe(200);
    const jobId = await submit();
    const assign = await island.next("assign");
    const events = collect(jobEvents(coordinator.url, account.key, jobId)).catch((error: unknown) => error);
    await coordinator.stop();
    expect(await events).toBeDefined();
    expect(coordinator.fatal).toEqual([]);
    expect(await island.next("cancel")).toMatchObject({ jobId: chatAssign.jobId });
    await coordinator.start();
    expect((await detail(chatAssign.jobId)).status).toBe("cancelled");
    expect((await detail(assign.jobId)).status).toMatch(/queued|pending/);
  });
});
