import { randomBytes, randomUUID } from "node:crypto";
import { insertAccount, type NewAccount } from "../../test/support/store/account-rows.ts";
import { missingServers } from "../../test/support/servers/missing-servers.ts";
import { NatsServer } from "../../test/support/servers/nats-server.ts";
import { PostgresServer } from "../../test/support/servers/postgres-server.ts";
import { Program } from "../../test/support/program.ts";
import { smallCatalog } from "../../test/support/small-catalog.ts";
import { cpuSeconds, familyCpuSeconds } from "./process-facts.ts";
import { CREDITS, coordinatorProgram, NO_LIMITS, PATIENT, startAtoll, type Server } from "./servers.ts";

/** The coordinators of one network, on one machine. */
export interface Cluster extends Pick<Server, "account">, AsyncDisposable {
  readonly coordinators: readonly Server[];
  readCosts(): Promise<Costs>;
}
/** Total costs until now, of all processes of a kind. */
export interface Costs {
  readonly coordinatorsS: number;
  readonly postgresS: number;
  readonly natsS: number;
  /** Transactions of jobs and Islands, counted by the coordinators. */
  readonly commits: number;
  /** All transactions counted by PostgreSQL, including reads; 0 with SQLite. */
  readonly transactions: number;
}

const DATABASE = "bench";

/** Returns why several coordinators cannot run on this machine, or null if they can. */
export async function whyNoCluster(): Promise<string | null> {
  const missing = await missingServers();
  return missing === null ? null : `Several coordinators were not measured: ${missing}.`;
}

/**
 * Starts a cluster.
 * @param size number of coordinators on PostgreSQL, with NATS if there are several; 0 for one coordinator on SQLite.
 */
export async function startCluster(size: number): Promise<Cluster> {
  if (size === 0) return onSqlite();
  await using opened = new AsyncDisposableStack();
  const postgres = opened.use(await PostgresServer.start({ isDurable: true }));
  const nats = size === 1 ? null : opened.use(await NatsServer.start());
  const store = await postgres.createDatabase(DATABASE);
  const key = randomBytes(32);
  const programs: Program[] = [];
  const coordinators: Server[] = [];
  const account = (name: string): NewAccount =>
    insertAccount({ address: store, key }, `${unique(name)}@example.com`, CREDITS, NO_LIMITS);
  for (let index = 0; index < size; index += 1) {
    const bus = nats === null ? [] : ["--bus", nats.address];
    const catalog = ["--catalog-directory", smallCatalog()];
    const args = ["serve", "--port", "0", "--store", store, ...bus, "--log-level", "warn", ...catalog, ...PATIENT];
    const program = opened.use(new Program(coordinatorProgram(), args, { ATOLL_CLUSTER_KEY: key.toString("hex") }));
    const url = (await program.printed(/listening on (\S+)\n/))[1] as string;
    programs.push(program);
    coordinators.push({ url, pid: pidOf(program.process), data: null, account, [Symbol.asyncDispose]: async () => {} });
  }
  const all = opened.move();
  return {
    coordinators,
    account,
    async readCosts() {
      const { rows } = await postgres.query(`SELECT xact_commit FROM pg_stat_database WHERE datname = '${DATABASE}'`);
      return {
        coordinatorsS: programs.reduce((sum, { process }) => sum + cpuSeconds(pidOf(process)), 0),
        postgresS: familyCpuSeconds(pidOf(postgres)),
        natsS: nats === null ? 0 : cpuSeconds(pidOf(nats)),
        commits: await readCommits(coordinators),
        transactions: Number((rows[0] as { xact_commit: string }).xact_commit),
      };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function onSqlite(): Promise<Cluster> {
  const server = await startAtoll();
  const account = (name: string): Pick<NewAccount, "key" | "islandToken"> => server.account(unique(name));
  return {
    coordinators: [{ ...server, account }],
    account,
    readCosts: async () => {
      const commits = await readCommits([server]);
      return { coordinatorsS: cpuSeconds(server.pid), postgresS: 0, natsS: 0, commits, transactions: 0 };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function readCommits(servers: readonly Pick<Server, "url">[]): Promise<number> {
  const counts = servers.map(async ({ url }) => {
    const metrics = await (await fetch(`${url}/api/v1/metrics`)).text();
    const commits = Number(/^atoll_storage_commits_total (\d+)$/m.exec(metrics)?.[1]);
    if (Number.isNaN(commits)) throw new Error(`${url} does not report the metric of its commits`);
    return commits;
  });
  return (await Promise.all(counts)).reduce((sum, commits) => sum + commits, 0);
}

/** Returns a unique account name, because each measurement uses new accounts. */
const unique = (name: string): string => `${name}-${randomUUID()}`;

function pidOf({ pid }: { readonly pid?: number | undefined }): number {
  if (pid === undefined) throw new Error("A process did not start");
  return pid;
}
