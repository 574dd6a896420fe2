import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
beforeEach(async () => {
  coordinator = await TestCoordinator.open();
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

describe("chats while another account keeps ten jobs of priority 100 in flight", () => {
  it("each start after at most two of those jobs", async () => {
    const flooder = await coordinator.createAccount("flooder@example.com");
    const chatter = await coordinator.createAccount("chatter@example.com");
    await using island = await FakeIsland.join(coordinator.url, flooder.islandToken, { slots: 2 });
    const flood = async (): Promise<void> => {
      const body = { workload: "tiny-chat", input: { prompt: "Hi" }, priority: 100 };
      expect((await call(coordinator.url, flooder.key, "POST", "/jobs", body)).status).toBe(201);
    };
    for (let count = 0; count < 10; count += 1) await flood();
    const held = [await island.next("assign"), await island.next("assign")];
    /** Ends the job that was held for the longest time, and returns the next job for its slot. */
    const endOne = async (): Promise<Assign> => {
      const ended = held.shift();
      if (ended === undefined) throw new Error("The Island has no job");
      island.send(...runFrames(ended, "done"));
      await island.next("ack", ({ jobId, seq }) => jobId === ended.jobId && seq === 2);
      const next = await island.next("assign");
      held.push(next);
      return next;
    };
    for (let chats = 0; chats < 5; chats += 1) {
      const body = { messages: [{ role: "user", content: "Hello" }] };
      const answer = call(coordinator.url, chatter.key, "POST", "/chat/completions", body);
      const [chat] = await until(
        async () =>
          (await call(coordinator.url, chatter.key, "GET", "/jobs?status=pending")).body.data as { id: string }[],
        (jobs) => jobs.length === 1,
        "the chat",
      );
      let before = 0;
      for (let next = await endOne(); next.jobId !== chat?.id; next = await endOne()) {
        before += 1;
        expect(before).toBeLessThanOrEqual(2);
        await flood();
      }
      while (held.some(({ jobId }) => jobId === chat?.id)) {
        await endOne();
        await flood();
      }
      expect((await answer).status).toBe(200);
    }
  });
});

describe("chats", () => {
  it("get half of the slots, however many accounts have other jobs waiting", async () => {
    for (let index = 0; index < 9; index += 1) {
      const { key } = await coordinator.createAccount(`batch${index}@example.com`);
      for (let count = 0; count < 4; count += 1) {
        await call(coordinator.url, key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } });
      }
    }
    const chatter = await coordinator.createAccount("chatter@example.com");
    const body = { messages: [{ role: "user", content: "Hello" }] };
    const chats = Array.from({ length: 10 }, () =>
      call(coordinator.url, chatter.key, "POST", "/chat/completions", body).catch(() => null),
    );
    const ofChatter = async (status: string) =>
      (await call(coordinator.url, chatter.key, "GET", `/jobs?status=${status}`)).body.meta.total as number;
    await until(
      () => ofChatter("pending"),
      (count) => count === 10,
      "all chats",
    );
    await using _island = await FakeIsland.join(coordinator.url, chatter.islandToken, { slots: 10 });
    const queued = await until(
      () => ofChatter("queued"),
      (count) => count >= 5,
      "chats in half of the slots",
    );
    expect(queued).toBe(5);
    await coordinator.stop();
    await Promise.all(chats);
    await coordinator.start();
  });
});

describe("the price of a job", () => {
  it("rises with its priority by the operator's setting", async () => {
    coordinator.withFlags({ priorityPrice: 3 });
    await coordinator.stop();
    await coordinator.start();
    const account = await coordinator.createAccount("client@example.com");
    const api = async (method: string, path: string, body?: unknown) =>
      (await call(coordinator.url, account.key, method, path, body)).body.data;
    // 2 bytes of prompt and 1,024 tokens are held.
    const { prompt, completion } = (await api("GET", "/cargos/tiny-chat")).pricing as Record<string, number>;
    const price = (2 * Number(prompt) + 1_024 * Number(completion)) / 1e6;
    const spent: number[] = [];
    for (const priority of [0, 50, 100]) {
      const before = (await api("GET", "/account")).credits as number;
      await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" }, priority });
      spent.push((before - ((await api("GET", "/account")).credits as number)) / price);
    }
    expect(spent.map((times) => Math.round(times * 1_000) / 1_000)).toEqual([1, 2, 3]);
  });
});

describe("the share of an account", () => {
  it("is the operator's limit `share`, and determines the account's part of the slots", async () => {
    const accounts = [
      await coordinator.createAccount("small@example.com", 1_000, { concurrentJobs: 100 }),
      await coordinator.createAccount("large@example.com", 1_000, { concurrentJobs: 100, share: 300 }),
    ];
    for (const { key } of accounts) {
      for (let count = 0; count < 30; count += 1) {
        const body = { workload: "tiny-chat", input: { prompt: "Hi" } };
        expect((await call(coordinator.url, key, "POST", "/jobs", body)).status).toBe(201);
      }
    }
    await using island = await FakeIsland.join(coordinator.url, accounts[0]?.islandToken ?? "", { slots: 20 });
    await expect.poll(() => island.pending("assign").length).toBe(20);
    const large = await call(coordinator.url, accounts[1]?.key ?? "", "GET", "/jobs?status=queued&limit=100");
    expect(large.body.data).toHaveLength(15);
  });
});
