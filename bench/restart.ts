/**
 * `npm run bench:restart -- --jobs 100000`: how soon a coordinator serves again that was killed with so many waiting jobs. Each round
 * kills it and starts it at once, from when on it counts. The jobs are written by the store, not sent over HTTP, which takes minutes.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openStore } from "../coordinator/store/open-store.ts";
import { systemClock } from "../shared/clock.ts";
import { makeJob } from "../test/coordinator/store/contract/store-builders.ts";
import { insertAccount, type NewAccount } from "../test/support/account-rows.ts";
import { freePort } from "../test/support/free-port.ts";
import { Program } from "../test/support/program.ts";

const ACCOUNTS = 20;
const WAIT_MS = 24 * 3_600_000;
const SUBMITTED_AT_ONCE = 500;
const CLOCK_TICKS_PER_S = 100;
const LIMITS = { requestsPerMinute: 100_000, concurrentJobs: 1_000_000, concurrentStreams: 1_000 };
const PHASES = ["health", "first read", "first submission"] as const;

const { values } = parseArgs({
  options: {
    jobs: { type: "string", default: "100000" },
    rounds: { type: "string", default: "5" },
    /** Kept, and used again by the next run with it. */
    data: { type: "string" },
  },
});
const data = values.data ?? (await mkdtemp(join(tmpdir(), "atoll-restart-")));
const port = await freePort();

interface Figure {
  readonly wallS: number;
  readonly cpuS: number;
}

function start(): Program {
  const args = ["serve", "--port", String(port), "--data", data, "--log-level", "warn"];
  const program = new Program("coordinator", args, { NODE_COMPILE_CACHE: join(data, "compile-cache") });
  const kill = (): void => program.kill("SIGKILL");
  process.once("exit", kill);
  void program.ended().then(() => process.off("exit", kill));
  return program;
}

async function kill(program: Program): Promise<void> {
  program.kill("SIGKILL");
  await program.ended();
}

async function fill(count: number): Promise<{ account: NewAccount; jobId: string }> {
  const first = start();
  await first.printed(/listening on/);
  await kill(first);
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) =>
    insertAccount(data, `client-${index}-${systemClock.now()}@example.com`, 1_000_000, LIMITS),
  );
  const store = await openStore(data, systemClock);
  const numbers = await store.catalog.numberCargos(["tiny-chat"]);
  const workloadId = numbers.get("tiny-chat") ?? 0;
  let jobId = "";
  const createdAtMs = systemClock.now();
  for (let made = 0; made < count; made += SUBMITTED_AT_ONCE) {
    const jobs = Array.from({ length: Math.min(SUBMITTED_AT_ONCE, count - made) }, (_, index) =>
      makeJob(accounts[(made + index) % ACCOUNTS]?.id ?? "", {
        slug: "tiny-chat",
        workloadId,
        input: { prompt: `Count from 1 to ${index}.` },
        createdAtMs,
        waitDeadlineMs: createdAtMs + WAIT_MS,
      }),
    );
    await Promise.all(jobs.map((job) => store.jobs.submit(job)));
    jobId = jobs[0]?.id ?? "";
  }
  await store.close();
  return { account: accounts[0] as NewAccount, jobId };
}

async function call(key: string, method: string, path: string, body?: object): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function until(status: number, ask: () => Promise<number>): Promise<void> {
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer === status) return;
    if (answer !== null && answer < 500) throw new Error(`Answered ${answer}, not ${status}`);
    await systemClock.sleep(5);
  }
}

/** Of all threads of the process. */
async function cpuSeconds({ process }: Program): Promise<number> {
  const fields = (await readFile(`/proc/${process.pid}/stat`, "utf8")).replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_S;
}

async function round(key: string, jobId: string): Promise<{ figures: Figure[]; program: Program }> {
  const beganMs = performance.now();
  const program = start();
  const figures: Figure[] = [];
  const note = async (): Promise<void> => {
    figures.push({ wallS: (performance.now() - beganMs) / 1_000, cpuS: await cpuSeconds(program) });
  };
  await until(200, () => call(key, "GET", "/api/v1/health"));
  await note();
  await until(200, () => call(key, "GET", `/api/v1/jobs/${jobId}`));
  await note();
  const input = { prompt: "Count from 1 to 3." };
  await until(201, () => call(key, "POST", "/api/v1/jobs", { workload: "tiny-chat", input }));
  await note();
  return { figures, program };
}

const count = Number(values.jobs);
const filled = join(data, "bench.json");
if (!existsSync(filled)) await writeFile(filled, JSON.stringify(await fill(count)));
const { account, jobId } = JSON.parse(await readFile(filled, "utf8")) as Awaited<ReturnType<typeof fill>>;
let program = start();
await program.printed(/listening on/);
const rounds: Figure[][] = [];
for (let made = 0; made < Number(values.rounds); made += 1) {
  await kill(program);
  const measured = await round(account.key, jobId);
  ({ program } = measured);
  rounds.push(measured.figures);
}
await kill(program);
if (values.data === undefined) await rm(data, { recursive: true, force: true });

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? NaN;
console.log(
  `${count} waiting jobs, ${rounds.length} rounds. Seconds since the start of the process, to the answer of:`,
);
console.log("                     wall p50    max    CPU p50    max");
for (const [index, phase] of PHASES.entries()) {
  const walls = rounds.map((figures) => figures[index]?.wallS ?? NaN);
  const cpus = rounds.map((figures) => figures[index]?.cpuS ?? NaN);
  const columns = [median(walls), Math.max(...walls), median(cpus), Math.max(...cpus)];
  console.log(phase.padEnd(18), ...columns.map((figure) => figure.toFixed(2).padStart(9)));
}
