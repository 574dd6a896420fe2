import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LedgerLine } from "../../../coordinator/credits/account-lines.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import { balanceOf, makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { GRACE_MS, JobWorld, NETWORK_FEE, PRICES, type CargoName } from "./job-world.ts";
import { DEEDS, ScriptedAgent } from "./scripted-agent.ts";
import { soakRounds } from "../../support/soak-rounds.ts";

/** The credits cover about two jobs, so that some jobs are refused for insufficient credits. */
const GRANT_MICRO = 60_000;
const MAX_TOKENS = 10;
const PROMPT = "Hi";

const folder = temporaryFolder();
const clock = new ManualClock();
let store: SqliteStore;
beforeAll(async () => {
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
});
afterAll(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

const client = fc.nat(1);
const island = fc.nat(1);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("submit" as const),
      client,
      cargo: fc.constantFrom<CargoName>("free", "cheap", "cheap", "dear"),
      key: fc.constantFrom(null, null, "a", "b"),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("cancel" as const), pick: fc.nat(9) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("act" as const),
      island,
      auditEvent: fc.constantFrom(...DEEDS),
      pick: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose" as const), island }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("join" as const), island, keepsJobs: fc.boolean() }) },
  // Times within the grace period, after it, after the run limit and after the wait limit.
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ms: fc.constantFrom(1_000, GRACE_MS, 301_000, 3_601_000),
    }),
  },
  // Waits for storage, because otherwise the next step would run while writes are in flight.
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("settle" as const) }) },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const submit: Step = { kind: "submit", client: 0, cargo: "cheap", key: null };
const settle: Step = { kind: "settle" };
const act = (auditEvent: (typeof DEEDS)[number], pick = 0): Step => ({ kind: "act", island: 0, auditEvent, pick });
/** A sequence of steps that reaches every kind of end of a job. */
const EVERY_END: Step[] = [
  ...[submit, settle, act("output"), { kind: "cancel", pick: 0 } as const, settle, act("giveUp")],
  ...[submit, settle, act("output"), act("finish"), settle],
  ...[submit, settle, act("start"), act("fail"), settle],
  ...[submit, settle, { kind: "cancel", pick: 3 } as const, settle],
  ...[{ kind: "lose", island: 0 } as const, submit, settle, { kind: "advance", ms: 3_601_000 } as const, settle],
];

/** The first Island breaks the protocol. Another one delivers output and is lost, and its output is paid. */
const DELIVERED_BY_ANOTHER: Step[] = [
  { kind: "join", island: 1, keepsJobs: false },
  { kind: "submit", client: 0, cargo: "free", key: null },
  { kind: "submit", client: 0, cargo: "cheap", key: "a" },
  settle,
  { kind: "act", island: 1, auditEvent: "empty", pick: 0 },
  settle,
  { kind: "lose", island: 1 },
  act("output", 3),
  { kind: "advance", ms: 3_601_000 },
  act("start"),
  settle,
  act("start"),
  { kind: "advance", ms: 1_000 },
  { kind: "join", island: 0, keepsJobs: false },
];

it(
  "the books are balanced, no balance is negative and no job is charged twice after any actions of clients and Islands",
  { timeout: 240_000 },
  async () => {
    const ends = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: "max" }), async (steps) => {
        const clients = [
          await makeAccount(store, { grantMicro: GRANT_MICRO }),
          await makeAccount(store, { grantMicro: GRANT_MICRO }),
        ];
        const owner = await makeAccount(store, { grantMicro: 0 });
        const world = new JobWorld(store, clock);
        // The second Island belongs to the first client, which both pays and earns.
        const agents = [new ScriptedAgent(world, owner), new ScriptedAgent(world, clients[0] ?? "")];
        await agents[0]?.connect(true);
        const known: { id: string; accountId: string }[] = [];
        const answers: Promise<unknown>[] = [];
        const faults: unknown[] = [];
        /** Ignores a refusal, because any other error is a bug. */
        const expectAnswer = (answer: Promise<unknown>): void => {
          answers.push(answer.catch((error: unknown) => void (error instanceof ServiceError || faults.push(error))));
        };
        const clientOf = (index: number): string => clients[index] ?? "";
        for (const act of steps) {
          if (act.kind === "settle") await world.settle();
          else if (act.kind === "advance") clock.advance(act.ms);
          else if (act.kind === "lose") agents[act.island]?.lose();
          else if (act.kind === "join") expectAnswer(agents[act.island]?.connect(act.keepsJobs) ?? Promise.resolve());
          else if (act.kind === "act")
            expectAnswer(agents[act.island]?.act(act.auditEvent, act.pick) ?? Promise.resolve());
          else if (act.kind === "cancel") {
            const job = known[act.pick % Math.max(1, known.length)];
            if (job !== undefined) expectAnswer(world.jobs.cancel(job.accountId, job.id));
          } else {
            const idempotency = act.key === null ? null : { key: act.key, bodyHash: act.cargo };
            const request = { accountId: clientOf(act.client), slug: act.cargo, priority: 0, idempotency };
            const input = { prompt: PROMPT, max_tokens: MAX_TOKENS };
            expectAnswer(world.jobs.submit({ ...request, input }).then(({ record }) => void known.push(record)));
          }
        }
        await Promise.all(answers);
        await world.settle();
        world.close();
        expect([...faults, ...world.fatal]).toEqual([]);
        await checkBooks(world, clients, owner, ends);
      }),
      { numRuns: soakRounds(150), examples: [[EVERY_END], [DELIVERED_BY_ANOTHER]] },
    );
    expect([...ends.keys()].sort()).toEqual(
      ["cancelled after output", "cancelled", "completed", "failed", "timeout"].sort(),
    );
  },
);

async function checkBooks(
  world: JobWorld,
  clients: readonly string[],
  owner: string,
  ends: Map<string, number>,
): Promise<void> {
  const { entries: _, ...report } = await store.ledger.verify();
  expect(report).toEqual({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
  let earnedMicro = 0;
  for (const accountId of [...clients, owner]) {
    const lines = await linesOf(accountId);
    const balanceMicro = (await balanceOf(store, accountId)) ?? -1;
    expect(balanceMicro).toBeGreaterThanOrEqual(0);
    expect(balanceMicro).toBe(sum(lines, "micro"));
    expect(Math.min(...lines.map((line) => line.balanceMicro), 0)).toBe(0);
    earnedMicro += sum(ofKind(lines, "earning"), "micro");
  }
  let mostEarnedMicro = 0;
  for (const accountId of clients) {
    const lines = await linesOf(accountId);
    const { jobs } = await store.jobs.list(accountId, { limit: 100, offset: 0 }, {});
    let unfinished = 0;
    for (const { id, slug, state } of jobs) {
      const own = lines.filter(({ jobId }) => jobId === id);
      const priceMicro = costOf(slug, PROMPT.length, MAX_TOKENS);
      const charges = ofKind(own, "charge");
      expect(ofKind(own, "hold")).toHaveLength(priceMicro === 0 ? 0 : 1);
      expect(charges.length).toBeLessThanOrEqual(1);
      const chargedMicro = 0 - sum(charges, "heldMicro");
      if (!isTerminal(state)) {
        unfinished += 1;
        expect([id, own.length]).toEqual([id, priceMicro === 0 ? 0 : 1]);
        continue;
      }
      const end = state === "cancelled" && chargedMicro > 0 ? "cancelled after output" : state;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      expect([id, chargedMicro]).toEqual([id, await dueOf(id, state, slug)]);
      expect(sum(ofKind(own, "release"), "micro")).toBe(priceMicro - chargedMicro);
      mostEarnedMicro += chargedMicro - Math.round(chargedMicro * NETWORK_FEE);
    }
    expect(world.jobQuota.isFull(accountId, unfinished + 1)).toBe(false);
    expect(world.jobQuota.isFull(accountId, unfinished)).toBe(true);
    expect([...world.registry.list()].filter((job) => job.accountId === accountId)).toHaveLength(unfinished);
  }
  // A charge earns nothing if the job was cancelled without an Island after one had started it.
  expect(earnedMicro).toBeLessThanOrEqual(mostEarnedMicro);
}

/** Returns the cost of tokens: a job of 500 prompt tokens and 500 completion tokens costs the price of the Cargo. */
function costOf(slug: string, promptTokens: number, completionTokens: number): number {
  return Math.ceil((PRICES[slug as CargoName] * (promptTokens + 4 * completionTokens)) / 2_500);
}

/** Returns the charge of an ended job for its tokens. Only a finished job reports its prompt. Source: decision 0040. */
async function dueOf(jobId: string, state: string, slug: string): Promise<number> {
  const parts = await store.jobs.feed(jobId);
  const items = parts.flatMap((part) => part.items);
  const delivered = items.reduce((tokens, item) => tokens + (item.type === "token" ? item.count : 0), 0);
  if (delivered === 0) return 0;
  return costOf(slug, state === "completed" ? PROMPT.length : 0, Math.min(delivered, MAX_TOKENS));
}

async function linesOf(accountId: string): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for (let total = 1; lines.length < total;) {
    const page = await store.ledger.list(accountId, { limit: 100, offset: lines.length });
    lines.push(...page.lines);
    total = page.total;
  }
  return lines;
}

function ofKind(lines: readonly LedgerLine[], kind: LedgerLine["kind"]): LedgerLine[] {
  return lines.filter((line) => line.kind === kind);
}

function sum(lines: readonly LedgerLine[], of: "micro" | "heldMicro"): number {
  return lines.reduce((total, line) => total + line[of], 0);
}
