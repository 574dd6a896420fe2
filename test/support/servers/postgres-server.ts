import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, copyFile, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { systemClock } from "../../../shared/clock.ts";
import type { Certificate } from "./certificates.ts";
import { freePort } from "../free-port.ts";
import { RUN_DIRECTORY } from "../run-directory.ts";

const run = promisify(execFile);
const VERSIONS = "/usr/lib/postgresql";
const MAX_START_MS = 20_000;

/** Settings without a sync per commit. Tests that kill the server set `isDurable`. */
const QUICK = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"];

export interface PostgresOptions {
  /** Whether the server syncs commits. */
  readonly isDurable?: boolean;
  /** Requires TLS and this password of the user `atoll` for connections over the network. */
  readonly secured?: { readonly certificate: Certificate; readonly password: string };
}

/** Returns the folder of Debian's newest PostgreSQL, or null if none is installed. */
export async function postgresPrograms(): Promise<string | null> {
  const versions = await readdir(VERSIONS).catch(() => []);
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? null : join(VERSIONS, newest, "bin");
}

/** A PostgreSQL server on a free port with a new directory. */
export class PostgresServer implements AsyncDisposable {
  readonly #bin: string;
  readonly #directory: string;
  readonly #identity: { uid?: number; gid?: number };
  readonly #settings: readonly string[];
  readonly port: number;
  #child: ChildProcess;

  private constructor(
    bin: string,
    directory: string,
    port: number,
    identity: { uid?: number; gid?: number },
    settings: readonly string[],
  ) {
    this.#bin = bin;
    this.#directory = directory;
    this.port = port;
    this.#identity = identity;
    this.#settings = settings;
    this.#child = this.#spawn();
  }

  /** Starts a server. @throws if PostgreSQL is not installed. */
  static async start({ isDurable = false, secured }: PostgresOptions = {}): Promise<PostgresServer> {
    const bin = await postgresPrograms();
    if (bin === null) throw new Error("PostgreSQL is not installed: apt-get install postgresql");
    const directory = await mkdtemp(join(tmpdir(), "atoll-postgres-"));
    // The server refuses to run as root, so the package's own user owns its directory in that case.
    const identity: { uid?: number; gid?: number } = process.getuid?.() === 0 ? await postgresUser() : {};
    if (identity.uid !== undefined) await chown(directory, identity.uid, identity.gid ?? identity.uid);
    await makeData(bin, directory, identity);
    const tls = secured === undefined ? [] : await secure(directory, identity, secured.certificate);
    const server = new PostgresServer(bin, directory, await freePort(), identity, [
      ...(isDurable ? [] : QUICK),
      ...tls,
    ]);
    await server.#untilReady();
    if (secured !== undefined) await server.query(`ALTER USER atoll PASSWORD '${secured.password}'`);
    return server;
  }

  /** Id of the process whose children serve the connections. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  addressOf(database: string): string {
    return `postgres://atoll@127.0.0.1:${this.port}/${database}`;
  }

  /** Creates an empty database and returns its address. */
  async createDatabase(name: string): Promise<string> {
    await this.query(`CREATE DATABASE ${name}`);
    return this.addressOf(name);
  }

  async query(sql: string, database = "postgres"): Promise<pg.QueryResult> {
    // Connects through the socket, which needs no password.
    const client = new pg.Client({ host: this.#directory, port: this.port, user: "atoll", database });
    await client.connect();
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  }

  /** Kills the server, as a crash would. */
  async kill(): Promise<void> {
    await this.#end("SIGQUIT");
  }

  async restart(): Promise<void> {
    await this.#end("SIGINT");
    this.#child = this.#spawn();
    await this.#untilReady();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGINT");
    await rm(this.#directory, { recursive: true, force: true });
  }

  #spawn(): ChildProcess {
    const where = ["-D", this.#directory, "-p", String(this.port), "-k", this.#directory];
    const own = ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", ...this.#settings];
    return spawn(join(this.#bin, "postgres"), [...where, ...own], {
      ...this.#identity,
      cwd: this.#directory,
      stdio: "ignore",
    });
  }

  async #untilReady(): Promise<void> {
    const limit = AbortSignal.timeout(MAX_START_MS);
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`PostgreSQL ended with ${this.#child.exitCode}`);
      limit.throwIfAborted();
      const isReady = await this.query("SELECT 1").then(
        () => true,
        () => false,
      );
      if (isReady) return;
      await systemClock.sleep(50);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}

/** Fills a new directory with a server's data. Copies the first directory of a run, which takes a tenth of the time. */
async function makeData(bin: string, directory: string, identity: { uid?: number; gid?: number }): Promise<void> {
  const shared = process.env[RUN_DIRECTORY];
  const kept = shared === undefined ? null : join(shared, "postgres");
  if (kept !== null && existsSync(kept)) {
    await run("cp", ["-a", `${kept}/.`, directory]);
    return;
  }
  const initdb = ["-D", directory, "-U", "atoll", "--auth=trust", "--no-instructions", "--no-sync", "-E", "UTF8"];
  await run(join(bin, "initdb"), initdb, { ...identity, cwd: directory });
  if (kept === null) return;
  const copy = await mkdtemp(`${kept}-`);
  await run("cp", ["-a", `${directory}/.`, copy]);
  // Another worker may have created it first.
  await rename(copy, kept).catch(() => rm(copy, { recursive: true }));
}

/** Writes the server's files for TLS and passwords, and returns the settings that name them. */
async function secure(
  directory: string,
  { uid, gid }: { uid?: number; gid?: number },
  { certFile, keyFile }: Certificate,
): Promise<string[]> {
  for (const [from, name] of [
    [certFile, "server.pem"],
    [keyFile, "server.key"],
  ] as const) {
    const to = join(directory, name);
    await copyFile(from, to);
    await chmod(to, 0o600);
    if (uid !== undefined) await chown(to, uid, gid ?? uid);
  }
  await writeFile(join(directory, "pg_hba.conf"), "local all all trust\nhostssl all all all scram-sha-256\n");
  return ["-c", "ssl=on", "-c", "ssl_cert_file=server.pem", "-c", "ssl_key_file=server.key"];
}

async function postgresUser(): Promise<{ uid: number; gid: number }> {
  const id = async (flag: string): Promise<number> => Number((await run("id", [flag, "postgres"])).stdout);
  return { uid: await id("-u"), gid: await id("-g") };
}
