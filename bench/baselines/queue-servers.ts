import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../shared/clock.ts";
import { freePort } from "../../test/support/free-port.ts";
import { postgresPrograms, PostgresServer } from "../../test/support/servers/postgres-server.ts";
import { Worker } from "../harness/worker.ts";
import type { QueueApi } from "../queues/queue-api.ts";

/** A queue whose server has a separate port and data directory. Disposing it removes both. */
export interface QueueUnderTest extends AsyncDisposable {
  readonly worker: Worker<QueueApi>;
}

export type QueueName = "bullmq" | "graphile-worker";

const run = promisify(execFile);
const QUEUES = join(import.meta.dirname, "..", "queues");
const MAX_START_MS = 20_000;

/** Returns the queues that can be measured on this machine, and the reasons why the others cannot. */
export async function findQueues(): Promise<{ readonly names: QueueName[]; readonly notes: string[] }> {
  const names: QueueName[] = [];
  const notes: string[] = [];
  if ((await run("redis-server", ["--version"]).catch(() => null)) !== null) names.push("bullmq");
  else notes.push("BullMQ: redis-server is not installed (apt-get install redis-server)");
  if ((await postgresPrograms()) !== null) names.push("graphile-worker");
  else notes.push("graphile-worker: PostgreSQL is not installed (apt-get install postgresql)");
  return { names, notes };
}

/** Installs missing packages of `queues/` from their lockfile, without install scripts. */
async function installQueues(): Promise<void> {
  if (existsSync(join(QUEUES, "node_modules", ".package-lock.json"))) return;
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: QUEUES });
}

export async function openQueue(name: QueueName): Promise<QueueUnderTest> {
  await installQueues();
  const server = name === "bullmq" ? await startRedis() : await startPostgres();
  const worker = await Worker.start<QueueApi>(join(QUEUES, `${name}.ts`));
  await worker.call("open", { address: server.address });
  return {
    worker,
    async [Symbol.asyncDispose]() {
      await worker.call("close", undefined);
      await worker[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

interface StoreServer extends AsyncDisposable {
  readonly address: string;
}

async function startRedis(): Promise<StoreServer> {
  const directory = await mkdtemp(join(tmpdir(), "atoll-bench-redis-"));
  const port = await freePort();
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  const own = ["--port", String(port), "--bind", "127.0.0.1", "--dir", directory];
  const policy = ["--maxmemory-policy", "noeviction"];
  const child = spawn("redis-server", [...own, ...durable, ...policy], { stdio: "ignore" });
  await untilListening(port, child);
  return { address: String(port), [Symbol.asyncDispose]: () => end(child, directory) };
}

async function startPostgres(): Promise<StoreServer> {
  const server = await PostgresServer.start({ isDurable: true });
  return { address: server.addressOf("postgres"), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Resolves when the port accepts connections. @throws if the program ends first. */
async function untilListening(port: number, child: ChildProcess): Promise<void> {
  const limit = AbortSignal.timeout(MAX_START_MS);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}`);
    limit.throwIfAborted();
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await systemClock.sleep(50);
  }
}

async function end(child: ChildProcess, directory: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    child.kill("SIGINT");
    const late = systemClock.schedule(MAX_START_MS, () => child.kill("SIGKILL"));
    await ended;
    late.cancel();
  }
  await rm(directory, { recursive: true, force: true });
}
