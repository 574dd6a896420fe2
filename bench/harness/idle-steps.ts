import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker as Thread } from "node:worker_threads";
import { systemClock } from "../../shared/clock.ts";
import type { EchoApi } from "../load/echo.ts";
import { machineMs } from "../load/frames.ts";
import type { Metrics } from "./alternate.ts";
import type { BenchOptions } from "./bench.ts";
import { p50AndP99 } from "./statistics.ts";
import { Worker } from "./worker.ts";

const PAGE = Buffer.alloc(4_096, 1);
/** Pause between two messages, so that the thread is asleep before each. */
const PAUSE_MS = 5;
const ECHO =
  "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m));";

/** Measures the indispensable steps of a job, each separately on an idle machine: p50 in ms. */
export async function measureIdleSteps(options: BenchOptions): Promise<Metrics> {
  const rounds = options.isQuick ? 20 : 500;
  return {
    ...(await measureDisk(rounds)),
    "thread p50": await measureThread(rounds),
    "process p50": await measureProcess(rounds),
  };
}

/** Measures the time to write one page to the disk of the coordinator's data. */
async function measureDisk(rounds: number): Promise<Metrics> {
  const directory = await mkdtemp(join(tmpdir(), "atoll-bench-disk-"));
  const metrics: Record<string, number> = {};
  for (const [name, sync] of Object.entries({ fdatasync: fdatasyncSync, fsync: fsyncSync })) {
    const file = openSync(join(directory, name), "w");
    const tookMs: number[] = [];
    for (let index = 0; index < rounds; index += 1) {
      const beganMs = machineMs();
      writeSync(file, PAGE);
      sync(file);
      tookMs.push(machineMs() - beganMs);
    }
    closeSync(file);
    metrics[`${name} p50`] = p50AndP99(tookMs).p50;
  }
  await rm(directory, { recursive: true });
  return metrics;
}

/** Measures a message to a sleeping thread and its reply. */
async function measureThread(rounds: number): Promise<number> {
  const thread = new Thread(ECHO, { eval: true });
  const p50 = await roundTripMs(
    rounds,
    (index) =>
      new Promise((resolve) => {
        thread.once("message", resolve);
        thread.postMessage(index);
      }),
  );
  await thread.terminate();
  return p50;
}

/** Measures a message to a process and its reply, as between the agent and the host of a runtime. */
async function measureProcess(rounds: number): Promise<number> {
  await using worker = await Worker.start<EchoApi>(join(import.meta.dirname, "..", "load", "echo.ts"));
  return await roundTripMs(rounds, (index) => worker.call("echo", index));
}

async function roundTripMs(rounds: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  for (let index = 0; index < rounds; index += 1) {
    await systemClock.sleep(PAUSE_MS);
    const beganMs = machineMs();
    await call(index);
    tookMs.push(machineMs() - beganMs);
  }
  return p50AndP99(tookMs).p50;
}
