import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames as begin, finishedFrame, outputFrame as output } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello, makeIslandState } from "../../support/network/frames.ts";
import { call, collect, jobEvents, textOf, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ islandGraceS: 0.3, restartGraceS: 0.3 });
  account = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  if (coordinator.isOpen) {
    const report = await coordinator.withStore((store) => store.ledger.verify());
    expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
  }
  await coordinator[Symbol.asyncDispose]();
});

const join = (hostId: string = randomUUID(), more = {}): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId, ...more });
const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);

async function submit(input: object = { prompt: "Hi" }): Promise<string> {
  const { status, body } = await api("POST", "/jobs", { workload: "tiny-chat", input });
  expect(status).toBe(201);
  return body.data.id as string;
}

const finished = (assign: Assign, seq: number, completionTokens: number) =>
  finishedFrame(assign, seq, { completionTokens });
const heldJob = ({ jobId, attempt, claim }: Assign) => ({ jobId, attempt, claim, started: true });
const stateOf = async (jobId: string): Promise<string> =>
  (await api("GET", `/jobs/${jobId}`)).body.data.status as string;

describe("an attempt", () => {
  it("runs from submission to completion, and its output is acknowledged", async () => {
    await using island = await join();
    const jobId = await submit();
    const assign = await island.next("assign");
    expect(assign).toMatchObject({ jobId, attempt: 1, input: { prompt: "Hi" }, cargo: { slug: "tiny-chat" } });
    island.send(...begin(assign), output(assign, 1, "a", "b"), finished(assign, 2, 2));
    await island.next("ack", (ack) => ack.seq === 2);
    const { body } = await api("GET", `/jobs/${jobId}`);
    expect(body.data).toMatchObject({ status: "completed", output: "ab", attempts: 1, usage: { total_tokens: 7 } });
  });

  it("ignores repeated frames", async () => {
    await using island = await join();
    const jobId = await submit();
    const assign = await island.next("assign");
    const first = output(assign, 1, "a");
    const last = finished(assign, 3, 2);
    island.send(...begin(assign), first, first, output(assign, 2, "b"), first, last, last);
    await island.next("ack", (ack) => ack.seq === 3);
    expect((await api("GET", `/jobs/${jobId}`)).body.data.output).toBe("ab");
  });

  it("closes the session on a gap in seq, and continues after the reconnect without loss or repeats", async () => {
    const hostId = randomUUID();
    const island = await join(hostId);
    const jobId = await submit();
    const assign = await island.next("assign");
    island.send(...begin(assign), output(assign, 1, "a"));
    await island.next("ack");
    island.send(output(assign, 3, "c"));
    expect(await island.closed).toEqual({ code: 1008, reason: "seq: 3 after 1" });
    const held = [heldJob(assign)];
    await using again = await FakeIsland.dial(coordinator.url, account.islandToken);
    again.send(makeHello({ hostId, held }));
    expect(await again.next("welcome")).toMatchObject({
      held: [{ jobId, attempt: 1, action: "continue", ackedSeq: 1 }],
    });
    again.send(output(assign, 2, "b"), output(assign, 3, "c"), finished(assign, 4, 3));
    await again.next("ack", (ack) => ack.seq === 4);
    expect((await api("GET", `/jobs/${jobId}`)).body.data).toMatchObject({ output: "abc", attempts: 1 });
  });

  it("continues on another Island after the delivered text if its Island is lost", async () => {
    const first = await join();
    const jobId = await submit();
    const events = collect(jobEvents(coordinator.url, account.key, jobId));
    const assign = await first.next("assign");
    first.send(...begin(assign), output(assign, 1, "one ", "two "));
    await first.next("ack");
    await using second = await join();
    first.cut();
    const next = await second.next("assign");
    expect(next).toMatchObject({ jobId, attempt: 2, resume: { text: "one two ", tokens: 2 } });
    second.send(...begin(next), output(next, 1, "three"), finished(next, 2, 3));
    const all = await events;
    expect(textOf(all)).toBe("one two three");
    expect(all.filter(({ event }) => event === "done" || event === "error")).toHaveLength(1);
    expect(all.at(-1)?.event).toBe("done");
  });

  it("drops frames of a superseded attempt", async () => {
    const hostId = randomUUID();
    const first = await join(hostId);
    const jobId = await submit();
    const assign = await first.next("assign");
    first.send(...begin(assign));
    await until(
      () => stateOf(jobId),
      (state) => state === "running",
      "running",
    );
    await using second = await join();
    first.cut();
    const next = await second.next("assign");
    // The first Island returns too late and still reports its output.
    await using late = await FakeIsland.dial(coordinator.url, account.islandToken);
    late.send(makeHello({ hostId, held: [heldJob(assign)] }));
    expect(await late.next("welcome")).toMatchObject({ held: [{ jobId, attempt: 1, action: "drop" }] });
    late.send(output(assign, 1, "wrong"), finished(assign, 2, 1));
    await late.next("ack", (ack) => ack.seq === 2);
    second.send(...begin(next), output(next, 1, "right"), finished(next, 2, 1));
    await second.next("ack", (ack) => ack.seq === 2);
    expect((await api("GET", `/jobs/${jobId}`)).body.data).toMatchObject({ output: "right", attempts: 2 });
  });

  it("fails the job and releases its credits after three failed attempts", async () => {
    await using island = await join();
    const before = (await api("GET", "/account")).body.data.credits as number;
    const jobId = await submit();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const assign = await island.next("assign");
      expect(assign.attempt).toBe(attempt);
      island.send(...begin(assign), {
        type: "failed",
        jobId,
        attempt,
        seq: 1,
        code: "runtime_crashed",
        message: "it crashed",
        retryable: true,
      });
    }
    await until(
      () => stateOf(jobId),
      (state) => state === "failed",
      "failed",
    );
    const { body } = await api("GET", `/jobs/${jobId}`);
    const message = "The process that ran the job ended unexpectedly. The Island says: it crashed";
    expect(body.data.error).toMatchObject({ code: "runtime_crashed", message });
    expect((await api("GET", "/account")).body.data.credits).toBe(before);
  });

  it("ends the job at once after a failure that no other Island would avoid", async () => {
    await using island = await join();
    const jobId = await submit();
    const { attempt } = await island.next("assign");
    island.send({ type: "failed", jobId, attempt, seq: 1, code: "invalid_input", message: "no", retryable: false });
    await until(
      () => stateOf(jobId),
      (state) => state === "failed",
      "failed",
    );
    expect((await api("GET", `/jobs/${jobId}`)).body.data.attempts).toBe(1);
  });

  it("ends a JSON answer with one retryable error if its Island is lost after output", async () => {
    const island = await join();
    const jobId = await submit({ prompt: "Hi", response_format: { type: "json_object" } });
    const events = collect(jobEvents(coordinator.url, account.key, jobId));
    const assign = await island.next("assign");
    island.send(...begin(assign), output(assign, 1, "{"));
    await island.next("ack");
    await using _other = await join();
    island.cut();
    const all = await events;
    expect(all.at(-1)).toMatchObject({ event: "error", data: { retryable: true, code: "island_lost" } });
  });

  it("is cancelled on the Island, whose slot stays taken until it confirms", async () => {
    await using island = await join(randomUUID(), { slots: 1 });
    const jobId = await submit();
    const assign = await island.next("assign");
    island.send(...begin(assign), output(assign, 1, "a"));
    await island.next("ack");
    expect((await api("DELETE", `/jobs/${jobId}`)).body).toEqual({ data: { id: jobId, status: "cancelled" } });
    expect(await island.next("cancel")).toMatchObject({ jobId, attempt: 1, reason: "cancelled" });
    const second = await submit();
    expect((await api("GET", `/jobs/${second}`)).body.data).toMatchObject({
      status: "pending",
      waiting: { reason: "all_busy" },
    });
    expect(island.pending("assign")).toEqual([]);
    island.send({ type: "cancelled", jobId, attempt: 1, seq: 2 });
    expect((await island.next("assign")).jobId).toBe(second);
    expect((await api("DELETE", `/jobs/${jobId}`)).body.error.code).toBe("job_not_cancellable");
  });

  it("charges the delivered tokens if the job is cancelled after output started", async () => {
    await using island = await join();
    const before = (await api("GET", "/account")).body.data.credits as number;
    const jobId = await submit({ prompt: "Hi", max_tokens: 10 });
    const assign = await island.next("assign");
    island.send(...begin(assign), output(assign, 1, "a", "b", "c", "d", "e"));
    await island.next("ack");
    await api("DELETE", `/jobs/${jobId}`);
    const { pricing } = (await api("GET", "/cargos/tiny-chat")).body.data as { pricing: { completion: number } };
    const charge = (5 * pricing.completion) / 1e6;
    expect(charge).toBe(0.000_08);
    // The client and the owner are the same account here. It pays for 5 tokens, and earns nine tenths of that.
    expect((await api("GET", "/account")).body.data.credits).toBeCloseTo(before - charge * 0.1, 9);
  });

  it("goes last to an Island that refused the job", async () => {
    await using first = await join(randomUUID(), { state: makeIslandState({ loaded: ["tiny-chat"] }) });
    const jobId = await submit();
    const { attempt } = await first.next("assign");
    await using second = await join();
    first.send({ type: "refused", jobId, attempt, code: "island_refused", message: "busy with my own work" });
    expect(await second.next("assign")).toMatchObject({ jobId, attempt: 2 });
  });

  it("does not exceed the slots of an Island", async () => {
    await using island = await join(randomUUID(), { slots: 2 });
    const ids = [await submit(), await submit(), await submit()];
    const first = await island.next("assign");
    await island.next("assign");
    expect((await api("GET", `/jobs/${ids[2]}`)).body.data.status).toBe("pending");
    expect(island.pending("assign")).toEqual([]);
    island.send(...begin(first), finished(first, 1, 0));
    expect((await island.next("assign")).jobId).toBe(ids[2]);
  });

  it("does not start on a draining Island", async () => {
    await using island = await join();
    island.send({ type: "draining" });
    const jobId = await until(
      () => submit(),
      () => true,
      "submitted",
    );
    const { body } = await api("GET", `/jobs/${jobId}`);
    expect(body.data.status).toBe("pending");
  });
});

describe("a coordinator restart", () => {
  it("restores waiting jobs, and continues those that their Island still holds", async () => {
    const hostId = randomUUID();
    const island = await join(hostId, { slots: 1 });
    const running = await submit();
    const waiting = await submit();
    const assign = await island.next("assign");
    island.send(...begin(assign), output(assign, 1, "a"));
    await island.next("ack");
    await coordinator.stop();
    await coordinator.start();
    await using again = await FakeIsland.dial(coordinator.url, account.islandToken);
    again.send(makeHello({ hostId, slots: 1, held: [heldJob(assign)] }));
    expect(await again.next("welcome")).toMatchObject({ held: [{ jobId: running, action: "continue", ackedSeq: 1 }] });
    const events = collect(jobEvents(coordinator.url, account.key, running));
    again.send(output(assign, 2, "b"), finished(assign, 3, 2));
    expect(textOf(await events)).toBe("ab");
    expect(await again.next("assign")).toMatchObject({ jobId: waiting, attempt: 1 });
  });

  it("assigns the jobs of an Island to another one if it does not return", async () => {
    const island = await join();
    const jobId = await submit();
    island.send(...begin(await island.next("assign")));
    await until(
      () => stateOf(jobId),
      (state) => state === "running",
      "running",
    );
    await coordinator.stop();
    await coordinator.start();
    await using other = await join();
    expect(await other.next("assign")).toMatchObject({ jobId, attempt: 2 });
  });
});

describe("time limits", () => {
  it("end a job without an Island as timeout, and the error names the limit", async () => {
    // Among the short limits, a client can set only the wait limit of a chat.
    await coordinator.stop();
    coordinator.withFlags({ chatWaitS: 0.05 });
    await coordinator.start();
    const { status, body } = await api("POST", "/chat/completions", { messages: [{ role: "user", content: "Hi" }] });
    const message = "No Island began the job within its wait limit: no Island is online";
    expect([status, body.error.code, body.error.message]).toEqual([503, "no_island_available", message]);
    const { data } = (await api("GET", "/jobs")).body as { data: { id: string; status: string }[] };
    expect(data[0]?.status).toBe("timeout");
    const events = await collect(jobEvents(coordinator.url, account.key, data[0]?.id ?? ""));
    const error = { code: "wait_timeout", error: message, retryable: true };
    expect(events.at(-1)).toMatchObject({ event: "error", data: error });
  });
});
