import type { EventEmitter } from "node:events";
import { machineMs } from "../load/frames.ts";
import { serveWorker } from "../harness/worker.ts";
import { measureIdleStarts } from "./idle-starts.ts";
import { loadPackage } from "./load-package.ts";
import { PAYLOAD, RESULT, type QueueApi } from "./queue-api.ts";

/** Worker process: BullMQ on Redis. */

interface Connection {
  readonly connection: { readonly host: string; readonly port: number; readonly maxRetriesPerRequest: null };
}
interface Queue {
  add(name: string, data: object): Promise<unknown>;
  addBulk(jobs: { name: string; data: object }[]): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  close(): Promise<void>;
}
interface QueueWorker extends EventEmitter {
  close(): Promise<void>;
  waitUntilReady(): Promise<unknown>;
}
interface BullMq {
  readonly Queue: new (name: string, options: Connection) => Queue;
  readonly Worker: new (
    name: string,
    processor: () => Promise<object>,
    options: Connection & { concurrency: number },
  ) => QueueWorker;
}

const NAME = "bench";
const bullmq = loadPackage<BullMq>("bullmq");
let options: Connection;
let queue: Queue;

const api: QueueApi = {
  async open({ address }) {
    options = { connection: { host: "127.0.0.1", port: Number(address), maxRetriesPerRequest: null } };
    queue = new bullmq.Queue(NAME, options);
    await queue.getJobCounts("waiting");
  },
  async add({ count, parallel, perCall }) {
    const beganMs = machineMs();
    let left = count / perCall;
    const one = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        if (perCall === 1) await queue.add(NAME, PAYLOAD);
        else await queue.addBulk(Array.from({ length: perCall }, () => ({ name: NAME, data: PAYLOAD })));
      }
    };
    await Promise.all(Array.from({ length: parallel }, one));
    const seconds = (machineMs() - beganMs) / 1_000;
    const { waiting, prioritized } = await queue.getJobCounts("waiting", "prioritized");
    if ((waiting ?? 0) + (prioritized ?? 0) !== count) throw new Error(`${waiting} jobs wait of ${count}`);
    return seconds;
  },
  async work({ count, parallel }) {
    const beganMs = machineMs();
    let ended = 0;
    const worker = new bullmq.Worker(NAME, async () => RESULT, { ...options, concurrency: parallel });
    await new Promise<void>((resolve, reject) => {
      worker.on("completed", () => (ended += 1) === count && resolve());
      worker.on("failed", (_job, error: Error) => reject(error));
      worker.on("error", reject);
    });
    const seconds = (machineMs() - beganMs) / 1_000;
    await worker.close();
    const { completed } = await queue.getJobCounts("completed");
    if (completed !== count) throw new Error(`${completed} jobs are completed of ${count}`);
    return seconds;
  },
  async idleStarts({ count }) {
    let startedMs = 0;
    const processor = async (): Promise<object> => {
      startedMs = machineMs();
      return RESULT;
    };
    const worker = new bullmq.Worker(NAME, processor, { ...options, concurrency: 1 });
    await worker.waitUntilReady();
    const tookMs = await measureIdleStarts(count, {
      add: () => queue.add(NAME, PAYLOAD),
      startedMs: () => startedMs,
      events: worker,
      event: "completed",
    });
    await worker.close();
    return tookMs;
  },
  async close() {
    await queue.close();
  },
};
serveWorker(api);
