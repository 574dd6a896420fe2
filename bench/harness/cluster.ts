import { randomBytes } from "node:crypto";
import { hashSecret, newSecret, secretPrefix } from "../../coordinator/accounts/secrets.ts";
import { grantPostings } from "../../coordinator/credits/postings.ts";
import { openPostgresStore } from "../../coordinator/store/postgres/postgres-store.ts";
import { SecretBox } from "../../coordinator/store/secret-box.ts";
import type { Store } from "../../coordinator/store/store.ts";
import { systemClock } from "../../shared/clock.ts";
import { newId } from "../../shared/ids.ts";
import { PASSWORD_HASH, type NewAccount } from "../../test/support/account-rows.ts";
import { NatsServer } from "../../test/support/nats-server.ts";
import { postgresPrograms, PostgresServer } from "../../test/support/postgres-server.ts";
import { Program } from "../../test/support/program.ts";
import { smallCatalog } from "../../test/support/small-catalog.ts";
import { spawnSync } from "node:child_process";
import { cpuSeconds, familyCpuSeconds } from "./process-facts.ts";
import { CREDITS, coordinatorProgram, NO_LIMITS, PATIENT, startAtoll, type Server } from "./servers.ts";

/** Coordinators of one network, on one machine. */
export interface Cluster extends Pick<Server, "account">, AsyncDisposable {
  readonly coordinators: readonly Server[];
  readCosts(): Promise<Costs>;
}
/** Until now, of all processes of a kind together. */
export interface Costs {
  readonly coordinatorsS: number;
  readonly postgresS: number;
  readonly natsS: number;
  /** Of the database; 0 with SQLite. */
  readonly commits: number;
}

/** Made before anything is measured: one for each seat of Islands and each load. */
const ACCOUNTS = 128;
const DATABASE = "bench";
const MICRO_PER_CREDIT = 1_000_000;

/** Null when what several coordinators need is installed. */
export async function whyNoCluster(): Promise<string | null> {
  if ((await postgresPrograms()) === null)
    return "Several coordinators were not measured: PostgreSQL is not installed.";
  if (spawnSync("nats-server", ["--version"]).status !== 0)
    return "Several coordinators were not measured: nats-server is not installed.";
  return null;
}

/** @param size coordinators on PostgreSQL, with NATS if there are several; 0: one on SQLite. */
export async function startCluster(size: number): Promise<Cluster> {
  if (size === 0) return onSqlite();
  await using opened = new AsyncDisposableStack();
  const postgres = installed(await PostgresServer.start({ isDurable: true }));
  opened.use(postgres);
  const nats = size === 1 ? null : opened.use(installed(await NatsServer.start()));
  const store = await postgres.createDatabase(DATABASE);
  const key = randomBytes(32);
  const programs: Program[] = [];
  const coordinators: Server[] = [];
  const accounts: NewAccount[] = [];
  const account = (): NewAccount => {
    const next = accounts.pop();
    if (next === undefined) throw new Error(`More than ${ACCOUNTS} accounts are needed`);
    return next;
  };
  for (let index = 0; index < size; index += 1) {
    const bus = nats === null ? [] : ["--bus", nats.address];
    const catalog = ["--catalog-directory", smallCatalog()];
    const args = ["serve", "--port", "0", "--store", store, ...bus, "--log-level", "warn", ...catalog, ...PATIENT];
    const program = opened.use(new Program(coordinatorProgram(), args, { ATOLL_CLUSTER_KEY: key.toString("hex") }));
    const url = (await program.printed(/listening on (\S+)\n/))[1] as string;
    programs.push(program);
    coordinators.push({ url, pid: pidOf(program.process), data: null, account, [Symbol.asyncDispose]: async () => {} });
  }
  accounts.push(...(await makeAccounts(store, key)));
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
        commits: Number((rows[0] as { xact_commit: string }).xact_commit),
      };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function onSqlite(): Promise<Cluster> {
  const server = await startAtoll();
  return {
    coordinators: [server],
    account: (name) => server.account(name),
    readCosts: async () => ({ coordinatorsS: cpuSeconds(server.pid), postgresS: 0, natsS: 0, commits: 0 }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** They may do as much as they like. */
async function makeAccounts(address: string, key: Buffer): Promise<NewAccount[]> {
  const store = await openPostgresStore({
    address,
    clock: systemClock,
    ownerId: "bench",
    secrets: new SecretBox(key),
  });
  try {
    return await Promise.all(Array.from({ length: ACCOUNTS }, (_, index) => makeAccount(store, index)));
  } finally {
    await store.close();
  }
}

async function makeAccount({ accounts }: Store, index: number): Promise<NewAccount> {
  const createdAtMs = systemClock.now();
  const id = newId("user", createdAtMs);
  const [key, islandToken] = [newSecret("ak"), newSecret("it")];
  const postings = grantPostings(id, CREDITS * MICRO_PER_CREDIT);
  await accounts.create({
    id,
    email: `bench-${index}@example.com`,
    passwordHash: PASSWORD_HASH,
    postings,
    createdAtMs,
  });
  await accounts.setLimits(id, NO_LIMITS);
  const named = { accountId: id, name: "bench", createdAtMs };
  const prefix = secretPrefix(key);
  await accounts.createKey(
    { ...named, id: newId("key", createdAtMs), prefix, scopes: ["read", "write"], secretHash: hashSecret(key) },
    { maxKeys: 1, revokedAfterMs: 0 },
  );
  await accounts.createIslandToken({ ...named, id: newId("itk", createdAtMs), tokenHash: hashSecret(islandToken) });
  return { id, key, islandToken };
}

function installed<T>(server: T | null): T {
  if (server === null) throw new Error("A server that several coordinators need is not installed");
  return server;
}

function pidOf({ pid }: { readonly pid?: number | undefined }): number {
  if (pid === undefined) throw new Error("A process did not start");
  return pid;
}
