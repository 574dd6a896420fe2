import { EventEmitter, once } from "node:events";
import { machineMs } from "../load/frames.ts";
import { serveWorker } from "../harness/worker.ts";
import { measureIdleStarts } from "./idle-starts.ts";
import { loadPackage } from "./load-package.ts";
import { PAYLOAD, type QueueApi } from "./queue-api.ts";

/** Worker process: graphile-worker on PostgreSQL. */

interface Utils {
  addJob(name: string, payload: object): Promise<unknown>;
  addJobs(jobs: { identifier: string; payload: object }[]): Promise<unknown>;
  withPgClient<T>(use: (client: { query(sql: string): Promise<{ rows: T[] }> }) => Promise<T>): Promise<T>;
  migrate(): Promise<void>;
  release(): Promise<void>;
}
interface Graphile {
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  readonly Logger: new (factory: () => () => void) => object;
}

/** Maximum number of times that the remaining jobs are polled, which takes a few seconds. */
const MAX_TRIES = 10_000;
const NAME = "bench";
const graphile = loadPackage<Graphile>("graphile-worker");
/** Options of the library, with a silent logger, because the library logs each job. */
const shared = { logger: new graphile.Logger(() => () => undefined), maxPoolSize: 20, noHandleSignals: true };
let utils: Utils;
let connectionString: string;

const jobsLeft = async (): Promise<number> => {
  const row = await utils.withPgClient<{ n: number }>(async (client) => {
    const { rows } = await client.query("SELECT count(*)::int AS n FROM graphile_worker.jobs");
    return rows[0] as { n: number };
  });
  return row.n;
};

const api: QueueApi = {
  async open({ address }) {
    connectionString = address;
    utils = await graphile.makeWorkerUtils({ ...shared, connectionString });
    await utils.migrate();
  },
  async add({ count, parallel, perCall }) {
    const beganMs = machineMs();
    let left = count / perCall;
    const one = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        if (perCall === 1) await utils.addJob(NAME, PAYLOAD);
        else await utils.addJobs(Array.from({ length: perCall }, () => ({ identifier: NAME, payload: PAYLOAD })));
      }
    };
    await Promise.all(Array.from({ length: parallel }, one));
    const seconds = (machineMs() - beganMs) / 1_000;
    const waiting = await jobsLeft();
    if (waiting !== count) throw new Error(`${waiting} jobs wait of ${count}`);
    return seconds;
  },
  async work({ count, parallel }) {
    const beganMs = machineMs();
    const events = new EventEmitter();
    let ended = 0;
    const all = new Promise<void>((resolve) => {
      // The event is emitted before the end is stored. On a slow machine, the database may not contain the end yet.
      events.on("job:complete", () => (ended += 1) === count && resolve());
    });
    const taskList = { [NAME]: async () => undefined };
    const runner = await graphile.run({ ...shared, connectionString, concurrency: parallel, taskList, events });
    await all;
    let left = await jobsLeft();
    for (let tries = 0; left > 0 && tries < MAX_TRIES; tries += 1) left = await jobsLeft();
    const seconds = (machineMs() - beganMs) / 1_000;
    await runner.stop();
    if (left !== 0) throw new Error(`${left} jobs are left of ${count}`);
    return seconds;
  },
  async idleStarts({ count }) {
    const events = new EventEmitter();
    let startedMs = 0;
    const taskList = {
      [NAME]: async () => {
        startedMs = machineMs();
      },
    };
    const listening = once(events, "pool:listen:success");
    const runner = await graphile.run({ ...shared, connectionString, concurrency: 1, taskList, events });
    await listening;
    const tookMs = await measureIdleStarts(count, {
      add: () => utils.addJob(NAME, PAYLOAD),
      startedMs: () => startedMs,
      events,
      event: "job:complete",
    });
    await runner.stop();
    return tookMs;
  },
  async close() {
    await utils.release();
  },
};
serveWorker(api);
