import OpenAI, { toFile } from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Assign } from "../../../../shared/protocol/from-coordinator.ts";
import { beginFrames, runFrames } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call } from "../../../support/http/http.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

/**
 * Credits of a tiny-chat job: one prompt token (4 micro-credits) and one generated token (16). The account owns the
 * Island and earns 90 % of them. Until the end, the default of 1,024 tokens is held.
 */
const PRICE = 0.000_002;
const HELD = (4 + 1_024 * 16) / 1_000_000;
const CHAT = "/v1/chat/completions";
const ENDED = new Set(["completed", "failed", "expired", "cancelled"]);

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what the files say
type Line = Record<string, any>;

describe("a file batch with a real coordinator", () => {
  let coordinator: TestCoordinator;
  let client: OpenAI;
  let account: { id: string; key: string; islandToken: string };
  /** An Island that reconnects without the jobs that it was running. */
  let hostId: string;
  let count = 0;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open({ fileMaxMb: "1" });
  });
  afterEach(() => expect(coordinator.fatal).toEqual([]));
  afterAll(() => coordinator[Symbol.asyncDispose]());

  async function makeAccount(credits: number): Promise<void> {
    hostId = crypto.randomUUID();
    account = await coordinator.createAccount(`client${++count}@example.com`, credits);
  }

  const clientOf = () => new OpenAI({ apiKey: account.key, baseURL: `${coordinator.url}/api/v1`, maxRetries: 0 });

  async function create(prompts: readonly string[]): Promise<OpenAI.Batch> {
    client = clientOf();
    const lines = prompts.map((content, index) => {
      const body = { model: "tiny-chat", messages: [{ role: "user", content }] };
      return JSON.stringify({ custom_id: `line ${index}`, method: "POST", url: CHAT, body });
    });
    const file = await client.files.create({ file: await toFile(Buffer.from(lines.join("\n"))), purpose: "batch" });
    return client.batches.create({ input_file_id: file.id, endpoint: CHAT, completion_window: "24h" });
  }

  async function until(id: string, holds: (batch: OpenAI.Batch) => boolean): Promise<OpenAI.Batch> {
    for (;;) {
      const batch = await client.batches.retrieve(id);
      if (holds(batch)) return batch;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  const ended = (id: string) => until(id, ({ status }) => ENDED.has(status));

  async function linesOf(fileId: string | null | undefined): Promise<Line[]> {
    if (fileId == null) return [];
    const text = await (await client.files.content(fileId)).text();
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  }

  const promptOf = ({ input }: Assign): string => (input["messages"] as { content: string }[]).at(-1)?.content ?? "";

  /** Completes the jobs that `answers` allows and starts the others. Counts the runs of each prompt. */
  async function join(runs: Map<string, number>, answers: (prompt: string) => boolean): Promise<FakeIsland> {
    const island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId });
    island.handle((frame) => {
      if (frame.type !== "assign") return;
      const prompt = promptOf(frame);
      runs.set(prompt, (runs.get(prompt) ?? 0) + 1);
      island.send(...(answers(prompt) ? runFrames(frame, `re ${prompt}`) : beginFrames(frame)));
    });
    return island;
  }

  const balance = async (): Promise<number> =>
    (await call(coordinator.url, account.key, "GET", "/account")).body.data.credits as number;
  const jobs = async (): Promise<Line[]> =>
    (await call(coordinator.url, account.key, "GET", "/jobs?limit=100")).body.data as Line[];

  const why = "the Island reconnects to another, and the jobs that it ran wait for the grace period of a restart";
  it(...unlessSeveral("continues after a stop, and charges and completes no line twice", why), async () => {
    await makeAccount(1_000);
    const runs = new Map<string, number>();
    const prompts = ["a", "b", "c", "d"];
    const before = await balance();
    await using first = await join(runs, (prompt) => prompt < "c");
    const { id } = await create(prompts);
    await until(id, ({ request_counts }) => request_counts?.completed === 2);
    await coordinator.stop();
    await coordinator.start();
    client = clientOf();
    await using second = await join(runs, () => true);
    const batch = await ended(id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 4, completed: 4, failed: 0 } });
    const output = await linesOf(batch.output_file_id);
    const answers = output.map(({ custom_id, response }) => [custom_id, response.body.choices[0].message.content]);
    expect(Object.fromEntries(answers)).toEqual({
      "line 0": "re a",
      "line 1": "re b",
      "line 2": "re c",
      "line 3": "re d",
    });
    expect(answers).toHaveLength(4);
    expect([runs.get("a"), runs.get("b")]).toEqual([1, 1]);
    expect(await jobs()).toHaveLength(4);
    expect(await balance()).toBeCloseTo(before - 4 * PRICE, 6);
    expect([first.socket.readyState, second.socket.readyState]).toEqual([3, 1]);
  });

  it.each([
    ["cancelled", "UPDATE file_batches SET cancelling_at_ms = 1 WHERE id = ?"],
    ["expired", "UPDATE file_batches SET expires_at_ms = 1 WHERE id = ?"],
  ])("writes the completed lines and ends its jobs if it is %s while no coordinator runs it", async (status, sql) => {
    await makeAccount(1_000);
    await using _first = await join(new Map(), (prompt) => prompt < "c");
    const { id } = await create(["a", "b", "c", "d"]);
    await until(id, ({ request_counts }) => request_counts?.completed === 2);
    await coordinator.stop();
    coordinator.runSql(sql, id);
    await coordinator.start();
    client = clientOf();
    const batch = await ended(id);
    expect(batch).toMatchObject({ status, request_counts: { total: 4, completed: 2, failed: 2 } });
    expect((await linesOf(batch.output_file_id)).map(({ custom_id }) => String(custom_id)).toSorted()).toEqual([
      "line 0",
      "line 1",
    ]);
    const codes = (await linesOf(batch.error_file_id)).map(({ error }) => error.code);
    expect(codes).toEqual([`batch_${status}`, `batch_${status}`]);
    expect((await jobs()).map((job) => String(job["status"])).toSorted()).toEqual([
      "cancelled",
      "cancelled",
      "completed",
      "completed",
    ]);
    expect(await balance()).toBeCloseTo(1_000 - 2 * PRICE, 6);
  });

  it("writes error lines for the rest when the credits run out", async () => {
    await makeAccount(2.5 * HELD);
    const assigned: Assign[] = [];
    await using island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId });
    const cancelled = new Set<string>();
    // The Island gets a job before its price is held.
    island.handle((frame) => {
      if (frame.type === "assign") assigned.push(frame);
      if (frame.type !== "cancel") return;
      cancelled.add(frame.jobId);
      island.send({ type: "cancelled", jobId: frame.jobId, attempt: frame.attempt, seq: 1 });
    });
    const { id } = await create(["a", "b", "c", "d"]);
    const isPaid = ({ jobId }: Assign): boolean => !cancelled.has(jobId);
    await until(id, ({ request_counts }) => request_counts?.failed === 2 && assigned.filter(isPaid).length === 2);
    for (const assign of assigned.filter(isPaid)) island.send(...runFrames(assign, "x"));
    const batch = await ended(id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 4, completed: 2, failed: 2 } });
    const failures = await linesOf(batch.error_file_id);
    expect(failures.map(({ response }) => [response.status_code, response.body.error.code])).toEqual([
      [402, "insufficient_credits"],
      [402, "insufficient_credits"],
    ]);
    expect(await balance()).toBeCloseTo(2.5 * HELD - 2 * PRICE, 6);
  });

  it(...unlessSeveral("is counted with its lines, like files and their refusals", "each counts its own"), async () => {
    await makeAccount(1_000);
    await using _island = await join(new Map(), () => true);
    await ended((await create(["a", "b"])).id);
    const large = { file: await toFile(Buffer.alloc(2 ** 21)), purpose: "batch" } as const;
    await expect(client.files.create(large)).rejects.toMatchObject({ code: "payload_too_large" });
    const read = async () => (await fetch(`${coordinator.url}/api/v1/metrics`)).text();
    // The coordinator of a batch finishes a little after its end is visible.
    await expect.poll(read).toContain("\natoll_file_batches_running 0\n");
    const metrics = await read();
    const valueOf = (row: string) =>
      Number(
        metrics
          .split("\n")
          .find((line) => line.startsWith(`${row} `))
          ?.split(" ")[1],
      );
    expect(valueOf('atoll_file_batches_total{state="completed"}')).toBeGreaterThanOrEqual(1);
    expect(valueOf('atoll_file_batch_lines_total{result="completed"}')).toBeGreaterThanOrEqual(2);
    expect(valueOf('atoll_file_refusals_total{code="payload_too_large"}')).toBe(1);
    expect(valueOf("atoll_file_batch_lines_running")).toBe(0);
    expect(valueOf("atoll_files")).toBeGreaterThanOrEqual(2);
    expect(valueOf("atoll_file_bytes")).toBeGreaterThan(100);
  });
});
