import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { AccountService } from "../../coordinator/accounts/account-service.ts";
import { resolveConfig } from "../../coordinator/config/resolve-config.ts";
import { openCoordinator, type Coordinator } from "../../coordinator/coordinator.ts";
import { DATABASE_FILE, openStore } from "../../coordinator/store/open-store.ts";
import type { StorePlace } from "../../coordinator/store/store-place.ts";
import type { AccountLimits } from "../../coordinator/store/account-store.ts";
import type { Store } from "../../coordinator/store/store.ts";
import { systemClock } from "../../shared/clock.ts";
import { insertAccount, type NewAccount } from "./account-rows.ts";
import { unwatchOrigin, watchOrigin } from "./answer-watch.ts";
import { writeEmptyDatabase } from "./empty-database.ts";
import { makeFastDirectory } from "./fast-directory.ts";
import { smallCatalog } from "./small-catalog.ts";
import { placeFlags, placeFor, runSql } from "./test-store.ts";
import { TEST_TRANSPORT } from "./transport.ts";

/** A test's Island answers when the test lets it, which a loaded machine delays. One that let a job down is asked again soon. */
const PATIENT = { acceptLimitS: 60, islandBackoffS: 0.01 };

/**
 * A real coordinator in this process: real sockets, a real database, a free port. It can be closed and opened again. Its catalog is
 * the small one unless a flag names another.
 */
export class TestCoordinator implements AsyncDisposable {
  readonly directory: string;
  /** Its data: in that directory, or in a database of PostgreSQL. */
  readonly place: StorePlace;
  readonly fatal: unknown[] = [];
  #flags: Readonly<Record<string, unknown>>;
  #coordinator: Coordinator | null = null;

  /** Variables, for the settings that have no flag. */
  readonly #env: Readonly<Record<string, string>>;

  private constructor(
    directory: string,
    place: StorePlace,
    flags: Readonly<Record<string, unknown>>,
    env: Readonly<Record<string, string>>,
  ) {
    this.directory = directory;
    this.place = place;
    this.#flags = flags;
    this.#env = env;
  }

  /** `ownPlace`: a test's own, in place of the store that all tests run on. */
  static async open(
    flags: Readonly<Record<string, unknown>> = {},
    env: Readonly<Record<string, string>> = {},
    ownPlace?: StorePlace,
  ): Promise<TestCoordinator> {
    const directory = await makeFastDirectory("atoll-test-");
    const place = ownPlace ?? (await placeFor(directory));
    const test = new TestCoordinator(directory, place, flags, env);
    if (typeof place === "string") await writeEmptyDatabase(join(directory, DATABASE_FILE));
    await test.start();
    return test;
  }

  /** Flags of a command that works on its data. */
  get placeFlags(): string[] {
    return placeFlags(this.place);
  }

  get isOpen(): boolean {
    return this.#coordinator !== null;
  }

  /** Settings for the next start. */
  withFlags(flags: Readonly<Record<string, unknown>>): void {
    this.#flags = { ...this.#flags, ...flags };
  }

  get url(): string {
    if (this.#coordinator === null) throw new Error("The coordinator is not open");
    return this.#coordinator.url;
  }

  async start(): Promise<void> {
    const flags = {
      ...TEST_TRANSPORT,
      port: 0,
      ...(typeof this.place === "string" ? { dataDirectory: this.place } : { store: this.place.address }),
      logLevel: "silent",
      ...PATIENT,
      ...this.#flags,
    };
    this.#coordinator = await openCoordinator({
      config: resolveConfig({
        flags,
        env: { ...this.#storeEnv, ...this.#env },
        toml: null,
        shippedCatalogDirectory: smallCatalog(),
      }),
      clock: systemClock,
      log: pino({ level: "silent" }),
      version: "0.0.0-test",
      onFatal: (error) => this.fatal.push(error),
    });
    watchOrigin(this.url);
  }

  get #storeEnv(): Readonly<Record<string, string>> {
    return typeof this.place === "string" ? {} : { ATOLL_CLUSTER_KEY: this.place.key.toString("hex") };
  }

  async stop(): Promise<void> {
    if (this.#coordinator !== null) unwatchOrigin(this.url);
    await this.#coordinator?.close();
    this.#coordinator = null;
  }

  /** Works on the data beside the running coordinator, as its commands do. */
  async withStore<T>(use: (store: Store, accounts: AccountService) => Promise<T>): Promise<T> {
    const store = await openStore(this.place, systemClock);
    // What a coordinator that was stopped has left may be written.
    await store.cluster?.adopt(1_000);
    try {
      const accounts = new AccountService({
        store: store.accounts,
        clock: systemClock,
        newAccountMicro: 0,
        registration: "open",
        log: pino({ level: "silent" }),
      });
      return await use(store, accounts);
    } finally {
      await store.close();
    }
  }

  /** Runs SQL with `?` for values on its data, as nobody but a test does. */
  runSql(sql: string, ...values: readonly (string | number | null)[]): unknown[] {
    return runSql(this.place, sql, ...values);
  }

  /**
   * An account with credits, an API key and an Island token. `limits`: those that are not to be the defaults. It may ask as often as
   * it likes unless they say otherwise: how often a test asks until something is so depends on the machine's speed.
   */
  async createAccount(email: string, credits = 1_000, limits: Partial<AccountLimits> = {}): Promise<NewAccount> {
    return insertAccount(this.place, email, credits, { requestsPerMinute: 100_000, ...limits });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}
