import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../shared/clock.ts";
import { freePort } from "../../test/support/free-port.ts";
import { Worker } from "../harness/worker.ts";
import type { QueueApi } from "../queues/queue-api.ts";

/** A queue with its own server on its own port and data directory; both end with it. */
export interface QueueUnderTest extends AsyncDisposable {
  readonly worker: Worker<QueueApi>;
}

export type QueueName = "bullmq" | "graphile-worker";

const run = promisify(execFile);
const QUEUES = join(import.meta.dirname, "..", "queues");
const POSTGRES_VERSIONS = "/usr/lib/postgresql";
const MAX_START_MS = 20_000;

/** Why a queue cannot be measured here; null if it can. */
export async function whyNot(name: QueueName): Promise<string | null> {
  if (name === "bullmq") {
    const found = await run("redis-server", ["--version"]).catch(() => null);
    return found === null ? "BullMQ: redis-server is not installed (apt-get install redis-server)" : null;
  }
  const bin = await postgresBin();
  return bin === null ? "graphile-worker: PostgreSQL is not installed (apt-get install postgresql)" : null;
}

/** Installs the packages of `queues/` by their lockfile, where they are not there yet. No install script runs. */
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
  const bin = await postgresBin();
  if (bin === null) throw new Error("PostgreSQL is not installed");
  const directory = await mkdtemp(join(tmpdir(), "atoll-bench-postgres-"));
  const port = await freePort();
  // The server refuses to run as root: the package's own user owns it there.
  const identity = process.getuid?.() === 0 ? await postgresUser() : null;
  if (identity !== null) await chown(directory, identity.uid, identity.gid);
  const as = identity ?? {};
  const initdb = ["-D", directory, "-U", "bench", "--auth=trust", "--no-instructions"];
  await run(join(bin, "initdb"), initdb, { ...as, cwd: directory });
  const server = ["-D", directory, "-p", String(port), "-k", directory, "-c", "listen_addresses=127.0.0.1"];
  const child = spawn(join(bin, "postgres"), server, { ...as, cwd: directory, stdio: "ignore" });
  await untilListening(port, child);
  const address = `postgres://bench@127.0.0.1:${port}/postgres`;
  return { address, [Symbol.asyncDispose]: () => end(child, directory) };
}

async function postgresUser(): Promise<{ uid: number; gid: number }> {
  const id = async (flag: string): Promise<number> => Number((await run("id", [flag, "postgres"])).stdout);
  return { uid: await id("-u"), gid: await id("-g") };
}

async function postgresBin(): Promise<string | null> {
  const versions = await readdir(POSTGRES_VERSIONS).catch(() => []);
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? null : join(POSTGRES_VERSIONS, newest, "bin");
}

/** Resolves when the port takes connections. @throws when the program ends first. */
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
    // PostgreSQL ends at once by SIGINT ("fast"), Redis too.
    child.kill("SIGINT");
    const late = systemClock.schedule(MAX_START_MS, () => child.kill("SIGKILL"));
    await ended;
    late.cancel();
  }
  await rm(directory, { recursive: true, force: true });
}
