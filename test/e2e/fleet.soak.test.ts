import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../../coordinator/store/open-store.ts";
import { systemClock } from "../../shared/clock.ts";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { HAS_EVERY_ROUND } from "../support/soak-rounds.ts";

const ISLANDS = 3;
const ACCOUNTS = 5;
const JOBS = HAS_EVERY_ROUND ? 200 : 40;
/** Prompts, and their completions at temperature 0. */
const QUESTIONS = [
  ["Count from 3 to 9.", "3, 4, 5, 6, 7, 8, 9."],
  ["What is 7 plus 8?", "7 plus 8 is 15."],
] as const;

interface Account {
  readonly id: string;
  readonly key: string;
  readonly islandToken: string;
}

interface Submitted {
  readonly account: Account;
  readonly jobId: string;
  readonly completion: string;
}

let network: Network;
let accounts: Account[];

beforeAll(async () => {
  network = await Network.open();
  accounts = [];
  for (let i = 0; i < ACCOUNTS; i += 1) {
    // Each account reaches its limit of unfinished jobs, while the request rate depends on the machine's speed.
    const limits = { requestsPerMinute: 10_000 };
    accounts.push(network.createAccount(`client${i}@example.com`, 1_000, limits));
  }
  // Trusted owners are paid at once, and their answers are not audited.
  const trust = ["--cargo", "tiny-chat", "--state", "trusted", "--reason", "known in person"];
  for (let i = 0; i < ISLANDS; i += 1) {
    await network.manage("standing", "set", "--email", `client${i}@example.com`, ...trust);
  }
  for (let i = 0; i < ISLANDS; i += 1) await network.startIsland(`island${i}`, accounts[i]?.islandToken ?? "");
}, 120_000);
afterAll(() => network[Symbol.asyncDispose]());

describe(`${ISLANDS} Islands and ${JOBS} jobs of ${ACCOUNTS} accounts`, () => {
  it("complete every job with the right output and usage, and leave balanced books", { timeout: 180_000 }, async () => {
    const before = await balances();
    const submitted: Submitted[] = [];
    for (let i = 0; i < JOBS; i += 1) {
      const account = accounts[i % ACCOUNTS] as Account;
      const [prompt, completion] = QUESTIONS[i % QUESTIONS.length] as (typeof QUESTIONS)[number];
      const jobId = await submit(account, prompt, (i * 37) % 101);
      submitted.push({ account, jobId, completion });
    }
    let feesMicro = 0;
    const islands = new Set<string>();
    for (const { account, jobId, completion } of submitted) {
      const { data } = (await call(network.url, account.key, "GET", `/jobs/${jobId}?wait=60`)).body;
      expect(data).toMatchObject({ status: "completed", output: completion, attempts: 1, error: null });
      const { prompt_tokens, completion_tokens, total_tokens, credits_used } = data.usage;
      expect(prompt_tokens).toBeGreaterThan(5);
      expect(completion_tokens).toBeGreaterThan(5);
      expect(total_tokens).toBe(prompt_tokens + completion_tokens);
      expect(credits_used).toBeGreaterThan(0);
      expect(Date.parse(data.completed_at)).toBeGreaterThanOrEqual(Date.parse(data.started_at));
      // Owners earn 90 % of the charges, and the network earns 10 %, rounded for each job.
      feesMicro += Math.round(credits_used * 1e6 * 0.1);
      islands.add(data.island_id);
    }
    expect(islands.size).toBe(ISLANDS);

    const after = await balances();
    expect(1e6 * (sum(before) - sum(after))).toBeCloseTo(feesMicro, 0);
    const store = await openStore(network.location, systemClock);
    try {
      const report = await store.ledger.verify();
      expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
    } finally {
      await store.close();
    }
  });

  it("end with idle Islands that report their work", async () => {
    let completed = 0;
    for (let i = 0; i < ISLANDS; i += 1) {
      const status = await network.islandStatus<{ running: unknown[]; counts: { completed: number; failed: number } }>(
        `island${i}`,
      );
      expect(status.running).toEqual([]);
      expect(status.counts.failed).toBe(0);
      completed += status.counts.completed;
    }
    expect(completed).toBe(JOBS);
  });
});

/** Submits like a client that respects limits, and waits after a 429. */
async function submit(account: Account, prompt: string, priority: number): Promise<string> {
  const body = { workload: "tiny-chat", input: { prompt, temperature: 0 }, priority };
  for (;;) {
    const response = await call(network.url, account.key, "POST", "/jobs", body);
    if (response.status === 201) return response.body.data.id as string;
    expect(response.status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get("retry-after")) * 1_000));
  }
}

async function balances(): Promise<number[]> {
  const all: number[] = [];
  for (const { key } of accounts)
    all.push((await call(network.url, key, "GET", "/account")).body.data.credits as number);
  return all;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
