import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { freePort } from "../support/free-port.ts";
import { call, collect, jobEvents, textOf, until, type SseEvent } from "../support/http/http.ts";
import { LONG_COMPLETION } from "../support/models/long-completion.ts";
import { Network } from "../support/network/network.ts";

/** At temperature 0 the model generates the same story every time. */
const STORY = { prompt: "Tell me a story.", temperature: 0 };
/** Prompt for a long completion at a high temperature, which leaves time for a fault. */
const LONG = { prompt: "Tell me a story.", temperature: 2, top_p: 1, top_k: 0, seed: 9, max_tokens: 900 };

let network: Network;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  network = await Network.open(["--port", String(await freePort()), "--island-grace-s", "5"]);
  account = network.createAccount("client@example.com");
});
afterEach(() => network[Symbol.asyncDispose]());

async function submit(input: object): Promise<string> {
  const { status, body } = await call(network.url, account.key, "POST", "/jobs", { workload: "tiny-chat", input });
  expect(status).toBe(201);
  return body.data.id as string;
}

const detail = async (jobId: string) => (await call(network.url, account.key, "GET", `/jobs/${jobId}`)).body.data;

async function story(): Promise<string> {
  const jobId = await submit(STORY);
  return (
    await until(
      () => detail(jobId),
      ({ status }) => status === "completed",
      "the story",
    )
  ).output as string;
}

// The demo model generates a story in 50 ms, so a fault could come too late.
describe("a network with a fault", { retry: 3 }, () => {
  it("continues a stream on another Island after a SIGKILL", async () => {
    const first = await network.startIsland("first", account.islandToken);
    const jobId = await submit(LONG);
    const events: SseEvent[] = [];
    for await (const event of jobEvents(network.url, account.key, jobId)) {
      events.push(event);
      if (event.event !== "token" || events.filter((each) => each.event === "token").length !== 5) continue;
      first.kill("SIGKILL");
      await network.startIsland("second", account.islandToken);
    }
    expect(endings(events)).toEqual(["done"]);
    expect(await detail(jobId)).toMatchObject({ status: "completed", output: textOf(events), attempts: 2 });
  });

  it("loses no job and charges none twice when its coordinator restarts", async () => {
    await network.startIsland("island", account.islandToken, { slots: "1" });
    const undisturbed = await story();
    const before = (await call(network.url, account.key, "GET", "/account")).body.data.credits as number;
    const ids = await Promise.all(Array.from({ length: 5 }, () => submit(STORY)));
    await until(
      () => detail(ids[0] as string),
      ({ status }) => status !== "pending",
      "taken",
    );
    await network.restartCoordinator("SIGKILL");
    let charged = 0;
    for (const jobId of ids) {
      const job = await until(
        () => detail(jobId),
        ({ status }) => status === "completed",
        "completed after the restart",
      );
      expect(job.output).toBe(undisturbed);
      expect(job.usage.credits_used).toBeGreaterThan(0);
      charged += job.usage.credits_used;
      const replayed = await collect(jobEvents(network.url, account.key, jobId));
      expect(textOf(replayed)).toBe(undisturbed);
    }
    const after = (await call(network.url, account.key, "GET", "/account")).body.data.credits as number;
    // The account owns the Island as well, so each job costs it only the network's 10 % of the charge.
    expect(before - after).toBeCloseTo(charged * 0.1, 5);
  });

  it("runs a job again after a crash of its model's process, and the agent continues", async () => {
    const island = await network.startIsland("island", account.islandToken);
    // The test knows the process before it submits the job that loses it.
    await story();
    const children = await childrenOf(island.process.pid as number);
    expect(children).toHaveLength(1);
    const jobId = await submit(LONG);
    const events: SseEvent[] = [];
    for await (const event of jobEvents(network.url, account.key, jobId)) {
      events.push(event);
      if (event.event === "token" && children.length > 0) process.kill(children.pop() as number, "SIGKILL");
    }
    expect(endings(events)).toEqual(["done"]);
    expect(await detail(jobId)).toMatchObject({ status: "completed", output: textOf(events), attempts: 2 });
    expect(island.process.exitCode).toBeNull();
  });

  it("finishes a job before an Island ends after SIGTERM, and leaves no process", async () => {
    const island = await network.startIsland("island", account.islandToken);
    const jobId = await submit(LONG);
    let children: number[] = [];
    for await (const { event } of jobEvents(network.url, account.key, jobId)) {
      if (event !== "token" || children.length > 0) continue;
      children = await childrenOf(island.process.pid as number);
      island.kill("SIGTERM");
    }
    expect((await island.ended()).code).toBe(0);
    expect(await detail(jobId)).toMatchObject({ status: "completed", attempts: 1 });
    expect(children).toHaveLength(1);
    for (const pid of children) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("stops the work of a cancelled job on its Island", async () => {
    await network.startIsland("island", account.islandToken);
    const jobId = await submit({ prompt: "Tell me a story.", response_format: LONG_COMPLETION, max_tokens: 900 });
    for await (const { event } of jobEvents(network.url, account.key, jobId)) {
      if (event === "token") await call(network.url, account.key, "DELETE", `/jobs/${jobId}`);
    }
    const status = () => network.islandStatus<AgentStatus>("island");
    const { counts } = await until(status, ({ running }) => running.length === 0, "idle");
    expect(counts).toMatchObject({ completed: 0, cancelled: 1 });
    expect(counts.tokens).toBeLessThan(900);
  });
});

function endings(events: readonly SseEvent[]): string[] {
  return events.map(({ event }) => event).filter((event) => event === "done" || event === "error");
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").filter(Boolean).map(Number);
}
