import { accountProblems } from "../support/store/account-books.ts";
import { ISLANDS } from "./plan.ts";
import type { ClientRecord } from "./history.ts";
import type { World } from "./world.ts";

const GRANTED = 10_000;
const ENDED = ["completed", "failed", "cancelled", "timeout"];

export interface Verdict {
  /** One line per broken guarantee. */
  readonly violations: string[];
  /** Number of acknowledged jobs by status. */
  readonly jobs: Readonly<Record<string, number>>;
}

interface Job {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
}

/** Compares the clients' records with the jobs, the ledger and the Islands, after all faults are repaired. */
export async function checkHistory(
  world: World,
  records: readonly ClientRecord[],
  keys: readonly string[],
): Promise<Verdict> {
  const violations = records.flatMap(({ operation, jobId, faults }) =>
    faults.map((fault) => `${operation} ${jobId}: ${fault}`),
  );
  const jobs: Record<string, number> = {};
  for (const record of records) {
    if (record.jobId === null) continue;
    const job = await readJob(world, keys[record.client] ?? "", record.jobId);
    violations.push(...violationsOf(record, job).map((line) => `${record.operation} ${record.jobId}: ${line}`));
    const status = job?.status ?? "lost";
    jobs[status] = (jobs[status] ?? 0) + 1;
  }
  for (const [client, key] of keys.entries())
    violations.push(...(await accountProblems(world.url, key, GRANTED)).map((line) => `client ${client}: ${line}`));
  for (let index = 0; index < ISLANDS; index += 1) {
    const running = (await world.islandStatus(index))?.running.length;
    if (running !== 0) violations.push(`Island ${index} still runs ${running} jobs`);
  }
  violations.push(...world.badEnds.map(({ program, code, stderr }) => `${program} ended with ${code}: ${stderr}`));
  return { violations, jobs };
}

async function readJob(world: World, key: string, jobId: string): Promise<Job | null> {
  const response = await fetch(`${world.url}/api/v1/jobs/${jobId}`, { headers: { authorization: `Bearer ${key}` } });
  return response.status === 200 ? ((await response.json()) as { data: Job }).data : null;
}

function violationsOf(record: ClientRecord, job: Job | null): string[] {
  if (job === null) return ["the acknowledged job is lost"];
  const lines: string[] = [];
  if (!ENDED.includes(job.status)) lines.push(`the job is still ${job.status}`);
  if (record.operation === "vanish" || record.operation === "utility") return lines;
  if (record.ending === "done" && job.status !== "completed")
    lines.push(`the stream ended with "done", but the job is ${job.status}`);
  if (record.ending === "error" && job.status === "completed")
    lines.push(`the stream ended with "error", but the job completed`);
  if (record.ending === "done" && record.text !== job.output) {
    lines.push(`the stream was ${JSON.stringify(record.text)}, the output is ${JSON.stringify(job.output)}`);
  }
  if (record.ending === "done" && record.expected !== null && record.text !== record.expected) {
    lines.push(`the text is ${JSON.stringify(record.text)}, not ${JSON.stringify(record.expected)}`);
  }
  return lines;
}
