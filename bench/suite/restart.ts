import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../coordinator/store/open-store.ts";
import { systemClock } from "../../shared/clock.ts";
import { makeJob } from "../../test/coordinator/store/contract/store-builders.ts";
import { insertAccount } from "../../test/support/store/account-rows.ts";
import { freePort } from "../../test/support/free-port.ts";
import { Program } from "../../test/support/program.ts";
import { alternate, figureOf, type Metrics } from "../harness/alternate.ts";
import type { Bench, BenchResult } from "../harness/bench.ts";
import { cpuSeconds } from "../harness/process-facts.ts";
import { coordinatorProgram } from "../harness/servers.ts";

const MAX_RESTART_S = 2;
const ACCOUNTS = 20;
const WAIT_MS = 24 * 3_600_000;
const SUBMIT_CONCURRENCY = 500;
const POLL_INTERVAL_MS = 5;
/** Number of restarts in each run. The median of the restarts is used. */
const ROUNDS = 3;
const LIMITS = { requestsPerMinute: 1e9, concurrentJobs: 1e6, concurrentStreams: 1e6 };
const INPUT = { prompt: "Count from 1 to 3." };

/** Measures how soon a killed coordinator with many waiting jobs can read a job and accept one again. */
export const restart: Bench = {
  name: "restart",
  title: "Restart after kill -9 with waiting jobs",
  async run({ runs, isQuick, log }): Promise<BenchResult> {
    const jobs = isQuick ? 200 : 100_000;
    await using many = await WaitingWorld.fill(jobs);
    await using few = await WaitingWorld.fill(1);
    const samples = await alternate(runs, { atoll: () => many.measure(), few: () => few.measure() }, log);
    const waiting = `${jobs.toLocaleString("en-US")} waiting jobs`;
    const against = { variant: "few", name: "1 waiting job" };
    const figure = (name: string, unit: string, metric: string) =>
      figureOf(samples, { what: `${name}, ${waiting}`, unit, metric, against });
    const isMet = ({ median }: { median: number }): boolean => median <= MAX_RESTART_S;
    return {
      figures: [
        {
          ...figure("kill -9 → first job accepted", "s", "submitted s"),
          budget: { text: `≤ ${MAX_RESTART_S} s (decision 0039)`, isMet },
        },
        figure("kill -9 → first job read", "s", "read s"),
        figure("CPU until the first job is accepted", "s", "cpu s"),
      ],
    };
  },
};

/** A coordinator and a data directory with waiting jobs. The store writes the jobs, since that would take minutes over HTTP. */
class WaitingWorld implements AsyncDisposable {
  readonly #directory: string;
  readonly #port: number;
  #program: Program;
  #waiting: number;
  #key = "";
  #jobId = "";

  private constructor(directory: string, port: number, waiting: number) {
    this.#directory = directory;
    this.#port = port;
    this.#waiting = waiting;
    this.#program = this.#start();
  }

  static async fill(count: number): Promise<WaitingWorld> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-restart-"));
    const world = new WaitingWorld(directory, await freePort(), count);
    await world.#program.printed(/listening on/);
    // An orderly stop stores the compiled code, as it would be after a longer run.
    world.#program.kill("SIGTERM");
    await world.#program.ended();
    await world.#submit(count);
    world.#program = world.#start();
    await world.#program.printed(/listening on/);
    return world;
  }

  async measure(): Promise<Metrics> {
    const rounds: Metrics[] = [];
    for (let made = 0; made < ROUNDS; made += 1) rounds.push(await this.#restart());
    const [first] = rounds.toSorted((a, b) => (a["submitted s"] ?? 0) - (b["submitted s"] ?? 0)).slice(ROUNDS >> 1);
    return first as Metrics;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kill();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #restart(): Promise<Metrics> {
    await this.#kill();
    const beganMs = systemClock.monotonicMs();
    const passedS = (): number => (systemClock.monotonicMs() - beganMs) / 1_000;
    this.#program = this.#start();
    await this.#until(200, () => this.#call("GET", `/jobs/${this.#jobId}`));
    const readS = passedS();
    await this.#until(201, () => this.#call("POST", "/jobs", { workload: "tiny-chat", input: INPUT }));
    const metrics = {
      "submitted s": passedS(),
      "read s": readS,
      "cpu s": cpuSeconds(this.#program.process.pid as number),
    };
    this.#waiting += 1;
    const pending = /^atoll_jobs_unfinished\{state="pending"\} (\d+)$/m.exec(await this.#text("/metrics"))?.[1];
    if (Number(pending) !== this.#waiting) throw new Error(`${pending} jobs are waiting, expected ${this.#waiting}`);
    return metrics;
  }

  #start(): Program {
    const args = ["serve", "--port", String(this.#port), "--data", this.#directory, "--log-level", "warn"];
    const cache = join(this.#directory, "compile-cache");
    const program = new Program(coordinatorProgram(), args, { NODE_COMPILE_CACHE: cache });
    const kill = (): void => program.kill("SIGKILL");
    process.once("exit", kill);
    void program.ended().then(() => process.off("exit", kill));
    return program;
  }

  async #kill(): Promise<void> {
    this.#program.kill("SIGKILL");
    await this.#program.ended();
  }

  async #submit(count: number): Promise<void> {
    const accounts = Array.from({ length: ACCOUNTS }, (_, index) =>
      insertAccount(this.#directory, `client-${index}@example.com`, 1e6, LIMITS),
    );
    const store = await openStore(this.#directory, systemClock);
    const createdAtMs = systemClock.now();
    const workloadId = (await store.catalog.numberCargos(["tiny-chat"], createdAtMs)).get("tiny-chat")?.number ?? 0;
    const job = (index: number) =>
      makeJob(accounts[index % ACCOUNTS]?.id ?? "", {
        slug: "tiny-chat",
        workloadId,
        input: INPUT,
        createdAtMs,
        waitDeadlineMs: createdAtMs + WAIT_MS,
      });
    for (let made = 0; made < count; made += SUBMIT_CONCURRENCY) {
      const jobs = Array.from({ length: Math.min(SUBMIT_CONCURRENCY, count - made) }, (_, index) => job(made + index));
      await Promise.all(jobs.map((each) => store.jobs.submit(each)));
      this.#jobId = jobs[0]?.id ?? "";
    }
    this.#key = accounts[0]?.key ?? "";
    await store.close();
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#key}`, "content-type": "application/json" };
    return fetch(`http://127.0.0.1:${this.#port}/api/v1${path}`, { ...init, headers });
  }

  async #text(path: string): Promise<string> {
    return (await this.#fetch(path)).text();
  }

  async #call(method: string, path: string, body?: object): Promise<number> {
    const response = await this.#fetch(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    await response.arrayBuffer();
    return response.status;
  }

  async #until(expected: number, call: () => Promise<number>): Promise<void> {
    for (;;) {
      const status = await call().catch(() => null);
      if (status === expected) return;
      if (status !== null && status < 500) throw new Error(`Status ${status}, expected ${expected}`);
      await systemClock.sleep(POLL_INTERVAL_MS);
    }
  }
}
