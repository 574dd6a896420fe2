import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { openAccounts, type Accounts } from "../../../coordinator/accounts/accounts.ts";
import { unsharedCredentials } from "../../../coordinator/cluster/credential-watch.ts";
import { resolveConfig } from "../../../coordinator/config/resolve-config.ts";
import { openCoordinator, type Coordinator } from "../../../coordinator/coordinator.ts";
import { DATABASE_FILE, openStore } from "../../../coordinator/store/open-store.ts";
import type { StoreLocation } from "../../../coordinator/store/store-location.ts";
import type { AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { insertAccount, type NewAccount } from "../store/account-rows.ts";
import { unwatchOrigin, watchOrigin } from "../http/response-watch.ts";
import { writeEmptyDatabase } from "../store/empty-database.ts";
import { makeFastDirectory } from "../fast-directory.ts";
import { smallCatalog } from "../small-catalog.ts";
import { NatsServer } from "../servers/nats-server.ts";
import { RoundRobin } from "../servers/round-robin.ts";
import { ARE_SEVERAL, COORDINATORS } from "./several-coordinators.ts";
import { locationFlags, locationFor, runSql } from "../store/test-store.ts";
import { testEnv } from "../test-env.ts";
import { TEST_TRANSPORT } from "../transport.ts";

/**
 * Flags for Islands of tests, which send no heartbeats and may respond late on a loaded machine. An Island that failed
 * a job soon gets the next one.
 */
const PATIENT = { acceptLimitS: 60, islandBackoffS: 0.01, heartbeatS: 3_600 };

/**
 * A real coordinator in this process, with real sockets, a real database and a free port. It can be closed and
 * reopened. Its default catalog is the small one. With ATOLL_TEST_COORDINATORS there are several, and each request goes
 * to the next one.
 */
export class TestCoordinator implements AsyncDisposable {
  readonly directory: string;
  /** Location of the coordinator's data, which is the directory or a PostgreSQL database. */
  readonly location: StoreLocation;
  readonly fatal: unknown[] = [];
  #flags: Readonly<Record<string, unknown>>;
  #coordinators: readonly Coordinator[] = [];
  /** Load balancer in front of several coordinators. */
  #balancer: RoundRobin | null = null;
  /** NATS of several coordinators on a new database. */
  readonly #nats: NatsServer | null;

  /** Environment variables, for settings without a flag. */
  readonly #env: Readonly<Record<string, string>>;

  private constructor(
    directory: string,
    location: StoreLocation,
    flags: Readonly<Record<string, unknown>>,
    env: Readonly<Record<string, string>>,
    nats: NatsServer | null,
  ) {
    this.#nats = nats;
    this.directory = directory;
    this.location = location;
    this.#flags = flags;
    this.#env = env;
  }

  /** Opens a coordinator. `ownLocation` is a location of the data that replaces the default store of the tests. */
  static async open(
    flags: Readonly<Record<string, unknown>> = {},
    env: Readonly<Record<string, string>> = {},
    ownLocation?: StoreLocation,
  ): Promise<TestCoordinator> {
    const directory = await makeFastDirectory("atoll-test-");
    const [location, nats] = await Promise.all([
      ownLocation ?? locationFor(directory),
      ARE_SEVERAL && ownLocation === undefined ? NatsServer.start() : null,
    ]);
    const test = new TestCoordinator(directory, location, flags, env, nats);
    if (typeof location === "string") await writeEmptyDatabase(join(directory, DATABASE_FILE));
    await test.start();
    return test;
  }

  /** Flags of a command that works on the coordinator's data. */
  get locationFlags(): string[] {
    return locationFlags(this.location);
  }

  get isOpen(): boolean {
    return this.#coordinators.length > 0;
  }

  /** Settings for the next start. */
  withFlags(flags: Readonly<Record<string, unknown>>): void {
    this.#flags = { ...this.#flags, ...flags };
  }

  get url(): string {
    const [first] = this.#coordinators;
    if (first === undefined) throw new Error("The coordinator is not open");
    return this.#balancer?.url ?? first.url;
  }

  async start(): Promise<void> {
    const flags = {
      transport: TEST_TRANSPORT.transport,
      uwsModule: TEST_TRANSPORT.transportModule,
      port: 0,
      ...(typeof this.location === "string"
        ? { dataDirectory: this.location }
        : { store: this.location.address, filesDir: join(this.directory, "files") }),
      ...(this.#nats === null ? {} : { bus: this.#nats.address }),
      logLevel: "silent",
      ...PATIENT,
      ...this.#flags,
    };
    const config = resolveConfig({
      flags,
      env: { ...this.#storeEnv, ...this.#env },
      toml: null,
      shippedCatalogDirectory: smallCatalog(),
    });
    const open = (): Promise<Coordinator> =>
      openCoordinator({
        config,
        clock: systemClock,
        log: pino({ level: "silent" }),
        version: "0.0.0-test",
        onFatal: (error) => this.fatal.push(error),
      });
    this.#coordinators = await Promise.all(Array.from({ length: this.#nats === null ? 1 : COORDINATORS }, open));
    const ports = this.#coordinators.map(({ url }) => Number(new URL(url).port));
    if (this.#nats !== null) this.#balancer = await RoundRobin.open(() => ports);
    watchOrigin(this.url);
  }

  get #storeEnv(): Readonly<Record<string, string>> {
    return typeof this.location === "string" ? {} : { ATOLL_CLUSTER_KEY: this.location.key.toString("hex") };
  }

  async stop(): Promise<void> {
    if (this.isOpen) unwatchOrigin(this.url);
    await Promise.all(this.#coordinators.map((coordinator) => coordinator.close()));
    await this.#balancer?.[Symbol.asyncDispose]();
    this.#balancer = null;
    this.#coordinators = [];
  }

  /** Accesses the data of the running coordinator, as its commands do. */
  async withStore<T>(use: (store: Store, accounts: Accounts) => Promise<T>): Promise<T> {
    const store = await openStore(this.location, systemClock);
    // Adopts the jobs of a stopped coordinator, so that they can be written.
    if (store.cluster.isShared) await store.cluster.adopt(1_000);
    try {
      const env = testEnv({ newAccountMicro: 0 }, { clock: systemClock });
      return await use(store, openAccounts(env, store.accounts, "open", unsharedCredentials(store.accounts, env)));
    } finally {
      // Coordinators that share a store poll for changes of others twice a second.
      if (store.cluster.isShared) await systemClock.sleep(600);
      await store.close();
    }
  }

  /** Runs SQL with `?` for values on the coordinator's data. */
  runSql(sql: string, ...values: readonly (string | number | null)[]): unknown[] {
    return runSql(this.location, sql, ...values);
  }

  /**
   * Creates an account with credits, an API key and an Island token. `limits` override the default limits. By default
   * there is no request limit, because the number of polls of a test depends on the machine's speed.
   */
  async createAccount(email: string, credits = 1_000, limits: Partial<AccountLimits> = {}): Promise<NewAccount> {
    return insertAccount(this.location, email, credits, { requestsPerMinute: 100_000, ...limits });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#nats?.[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
