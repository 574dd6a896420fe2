import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../test/support/free-port.ts";
import { postgresPrograms, PostgresServer } from "../../test/support/servers/postgres-server.ts";
import { untilListening } from "../../test/support/servers/until-listening.ts";
import { endServer, installPackages } from "../harness/child-server.ts";
import { Worker } from "../harness/worker.ts";
import type { QueueApi } from "../queues/queue-api.ts";

/** A queue whose server has a separate port and data directory. Disposing it removes both. */
export interface QueueUnderTest extends AsyncDisposable {
  readonly worker: Worker<QueueApi>;
}

export type QueueName = "bullmq" | "graphile-worker";

const run = promisify(execFile);
const QUEUES = join(import.meta.dirname, "..", "queues");

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

export async function openQueue(name: QueueName): Promise<QueueUnderTest> {
  await installPackages(QUEUES);
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

async function end(child: ChildProcess, directory: string): Promise<void> {
  await endServer(child);
  await rm(directory, { recursive: true, force: true });
}
