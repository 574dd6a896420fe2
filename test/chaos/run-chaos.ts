import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkHistory, type Verdict } from "./check-history.ts";
import { ChaosClient } from "./client.ts";
import type { ClientRecord } from "./history.ts";
import { describeFault, type FaultKind, makePlan } from "./plan.ts";
import { Random } from "../support/random.ts";
import { World } from "./world.ts";

const CLIENTS = 12;
/** Time in which all acknowledged jobs must end after all faults are repaired. */
const MAX_SETTLE_MS = 120_000;

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly kinds: readonly FaultKind[];
}

export interface ChaosResult extends Verdict {
  readonly faults: Readonly<Record<string, number>>;
  readonly resumptions: number;
  readonly positionsLost: number;
  readonly coordinatorRecoveriesMs: readonly number[];
  readonly readOnlyPeriods: number;
  /** File with the plan and the clients' records. Null if no guarantee was violated. */
  readonly historyFile: string | null;
}

/** Runs a network under the faults of a seed, repairs them, and checks all guarantees. */
export async function runChaos({ seed, minutes, kinds }: ChaosOptions): Promise<ChaosResult> {
  const durationMs = minutes * 60_000;
  const plan = makePlan(seed, durationMs, kinds);
  const faults: Record<string, number> = {};
  const records: ClientRecord[] = [];
  await using world = await World.open();
  const accounts = Array.from({ length: CLIENTS }, (_, client) => world.createAccount(`client-${client}@example.com`));
  const owner = world.createAccount("owner@example.com");
  await world.startIslands(owner.islandToken, owner.id);

  const deadline = new AbortController();
  let isOpen = true;
  const random = new Random(seed).fork();
  const clients = accounts.map(({ key }, id) =>
    new ChaosClient({
      id,
      key,
      url: () => world.url,
      random: random.fork(),
      isOpen: () => isOpen,
      deadline: deadline.signal,
      record: (record) => void records.push(record),
    }).run(),
  );
  const beganMs = performance.now();
  for (const { atMs, fault } of plan) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, beganMs + atMs - performance.now())));
    world.inflict(fault);
    const name = describeFault(fault).replace(/ \d+/, "");
    faults[name] = (faults[name] ?? 0) + 1;
  }
  isOpen = false;
  await world.repair();
  const limit = setTimeout(() => deadline.abort(), MAX_SETTLE_MS);
  await Promise.all(clients);
  clearTimeout(limit);
  await world.repair();

  const verdict = await checkHistory(
    world,
    records,
    accounts.map(({ key }) => key),
  );
  const violations = [...verdict.violations];
  const left = await world.stop();
  violations.push(...left.map((command) => `a process is still running: ${command}`));
  const books = await world.manage("ledger", "verify");
  if (books.code !== 0) violations.push(`ledger verify: ${books.stdout}${books.stderr}`);
  const sum = (read: (record: ClientRecord) => number): number =>
    records.reduce((total, each) => total + read(each), 0);
  return {
    violations,
    jobs: verdict.jobs,
    faults,
    resumptions: sum(({ resumptions }) => resumptions),
    positionsLost: sum(({ positionsLost }) => positionsLost),
    coordinatorRecoveriesMs: world.coordinatorRecoveriesMs,
    readOnlyPeriods: world.readOnlyPeriods,
    historyFile: violations.length === 0 ? null : await writeHistory(seed, { plan, records, violations }),
  };
}

async function writeHistory(seed: number, history: object): Promise<string> {
  const file = join(tmpdir(), `atoll-chaos-${seed}-${process.pid}.json`);
  await writeFile(file, JSON.stringify(history, null, 2));
  return file;
}
