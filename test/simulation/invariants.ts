import type { JobRecord } from "../../coordinator/store/jobs/job-store.ts";
import { isTerminal } from "../../shared/job-state.ts";
import { chargeByRule } from "./charge-rule.ts";
import { checkLeaks } from "./check-leaks.ts";
import { CHAT_WAIT_MS, GRACE_MS, RUN_LIMIT_MS, WAIT_LIMIT_MS, type CargoName } from "./settings.ts";
import type { SimulatedRequest } from "./simulated-client.ts";
import { taskOf, textOf, valueOf } from "./task.ts";
import type { World } from "./world.ts";

/** A stored job at the end, with the text and the tokens of its feed. */
interface EndedJob {
  readonly record: JobRecord;
  readonly text: string;
  readonly tokens: number;
  readonly outputs: number;
  /** Whether the result may come from a broken Island. */
  readonly isTainted: boolean;
}

/** Checks all guarantees after the last fault. Returns a line for each violation. */
export async function brokenPromises(world: World): Promise<string[]> {
  const broken = [...world.faults];
  for (const request of world.requests.values()) broken.push(...request.faults);
  for (const reader of world.readers.values()) broken.push(...reader.faults);
  // The state after a fault cannot be checked.
  if (broken.length > 0) return broken;
  const jobs = await readJobs(world);
  for (const request of world.requests.values()) broken.push(...checkRequest(world, request, jobs));
  for (const job of jobs) broken.push(...checkJob(world, job));
  for (const [number, reader] of world.readers) {
    const job = jobs.find(({ record }) => record.id === reader.jobId);
    if (job === undefined) continue;
    if (reader.text !== job.text || reader.outputs !== job.outputs) {
      broken.push(
        `reader ${number} was given "${reader.text}" of ${world.nameOf(reader.jobId)}, whose stream is "${job.text}"`,
      );
    }
    const expected = job.record.state === "completed" ? "done" : "error";
    if (reader.ending?.type !== expected)
      broken.push(`reader ${number} saw the end ${reader.ending?.type} of a job that is ${job.record.state}`);
  }
  broken.push(...(await checkBooks(world, jobs)), ...checkLeaks(world));
  return broken;
}

async function readJobs(world: World): Promise<EndedJob[]> {
  const store = world.life?.store;
  if (store === undefined) return [];
  const jobs: EndedJob[] = [];
  for (const id of world.database.jobIds()) {
    const record = await store.jobs.get(id);
    if (record === undefined) throw new Error(`${id} is gone`);
    const items = (await store.jobs.feed(id)).flatMap((part) => part.items);
    const tokens = items.filter((item) => item.type === "token");
    jobs.push({
      record,
      text: tokens.map(({ content }) => content).join(""),
      tokens: tokens.reduce((sum, { count }) => sum + count, 0),
      outputs: items.filter(({ type }) => type !== "status").length,
      isTainted: world.isTainted(id),
    });
  }
  return jobs;
}

function checkRequest(world: World, request: SimulatedRequest, jobs: readonly EndedJob[]): string[] {
  const { plan, tasks, jobIds, isInDoubt } = request;
  const broken: string[] = [];
  const name = `request ${plan.request}`;
  for (const [nth, task] of tasks.entries()) {
    const made = jobs.filter(({ record }) => taskOf(plan.cargo, record.input).name === task.name);
    if (made.length > 1) broken.push(`${name} created ${made.length} jobs instead of one`);
    const acknowledged = jobIds?.[nth];
    if (acknowledged !== undefined && made[0]?.record.id !== acknowledged)
      broken.push(`${name} was accepted, but its job is missing`);
    if (acknowledged === undefined && made.length > 0 && !isInDoubt) broken.push(`${name} was refused, but has a job`);
    if (made[0]?.record.state === "cancelled" && !request.isCancelAsked && !plan.failFast && plan.kind !== "chat") {
      broken.push(`${name}: no client cancelled ${world.nameOf(made[0].record.id)}`);
    }
  }
  for (const [id, state] of request.cancelled) {
    const found = jobs.find(({ record }) => record.id === id)?.record.state;
    if (found !== state) broken.push(`${name}: ${world.nameOf(id)} was reported as ${state}, but is ${found}`);
  }
  return broken;
}

function checkJob(world: World, job: EndedJob): string[] {
  const { record, text, isTainted } = job;
  const { state, error, slug, input } = record;
  const name = world.nameOf(record.id);
  if (!isTerminal(state)) return [`${name} is ${state} at the end`];
  if (isAbandoned(world, record)) return [`${name} went on though its client was gone for longer than the grace`];
  if (isTainted) return [];
  const task = taskOf(slug as CargoName, input);
  const broken: string[] = [];
  if (!textOf(task).startsWith(text)) broken.push(`${name} has the stream "${text}" instead of "${textOf(task)}"`);
  if (state === "completed") {
    const expected = slug === "value" ? JSON.stringify(valueOf(task)) : JSON.stringify(textOf(task));
    const found = JSON.stringify(record.output);
    if (found !== expected) broken.push(`${name} has the output ${found} instead of ${expected}`);
  }
  // `invalid_output` is correct in two cases: the task has no tokens, or the text was already complete and the next
  // Island added nothing to it.
  const isBlamed = error?.code === "output_too_large" || (error?.code === "invalid_output" && text !== textOf(task));
  if (isBlamed && task.tokens > 0) broken.push(`${name} failed with ${error.code}, which no Island caused`);
  if (state === "timeout" && !world.hasJumped) broken.push(...checkTimeout(record, name));
  return broken;
}

/**
 * Returns whether a chat completed after the grace period although its client, disconnected by a crash, did not return.
 */
function isAbandoned({ hasJumped, startedAtMs, readers }: World, job: JobRecord): boolean {
  if (hasJumped || job.jobClass !== "chat" || job.state !== "completed" || job.createdAtMs >= startedAtMs) return false;
  const isRead = [...readers.values()].some(({ jobId }) => jobId === job.id);
  return !isRead && (job.completedAtMs ?? 0) > startedAtMs + GRACE_MS;
}

function checkTimeout({ error, jobClass, createdAtMs, completedAtMs, startedAtMs }: JobRecord, name: string): string[] {
  const limitMs = error?.code === "run_timeout" ? RUN_LIMIT_MS : jobClass === "chat" ? CHAT_WAIT_MS : WAIT_LIMIT_MS;
  // A record contains only the start of the last run. A job that no other Island confirmed waited after the run that
  // took too long.
  const fromMs = error?.code === "run_timeout" ? (startedAtMs ?? createdAtMs) : createdAtMs;
  return (completedAtMs ?? 0) - fromMs >= limitMs ? [] : [`${name} ended with ${error?.code} before its limit`];
}

async function checkBooks(world: World, jobs: readonly EndedJob[]): Promise<string[]> {
  const { entries: _, ...report } = await world.database.verifyLedger();
  const right = { sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] };
  const broken =
    JSON.stringify(report) === JSON.stringify(right) ? [] : [`the ledger is wrong: ${JSON.stringify(report)}`];
  const entries = world.database.entries();
  for (const { record, tokens, isTainted } of jobs) {
    const name = world.nameOf(record.id);
    const { id, priceMicro, creditsUsedMicro, accountId } = record;
    const own = entries.filter(({ subject }) => subject === id);
    const sum = (kind: string, party?: string): number =>
      own
        .filter((entry) => entry.kind === kind && (party === undefined || entry.party === party))
        .reduce((total, { micro }) => total + micro, 0);
    const charged = 0 - sum("charge");
    const released = sum("release", `client:${accountId}`);
    if (charged !== creditsUsedMicro)
      broken.push(`${name} is charged ${charged} in the ledger and shows ${creditsUsedMicro}`);
    if (charged + released !== priceMicro)
      broken.push(`${name} held ${priceMicro}, was charged ${charged} and got ${released} back`);
    if (sum("earning") + sum("fee") !== charged) broken.push(`${name}: earning and fee are not the charge`);
    if (!isTainted && creditsUsedMicro !== chargeByRule(record, tokens)) {
      broken.push(
        `${name} (${record.state}) is charged ${creditsUsedMicro}; by the rule it costs ${chargeByRule(record, tokens)}`,
      );
    }
    const earner = own.find(({ kind }) => kind === "earning")?.party;
    const owners = world.islands.filter(({ assigned, streamed }) =>
      tokens > 0 && !isTainted ? streamed.has(id) : assigned.some(({ jobId }) => jobId === id),
    );
    if (earner !== undefined && !owners.some((island) => `client:${island.accountId}` === earner))
      broken.push(`${earner} earned with ${name} without a contribution`);
  }
  return broken;
}
