import { randomBytes } from "node:crypto";
import type { AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import type { DatabaseLocation } from "../../../coordinator/store/store-location.ts";
import { Link } from "../../chaos/link.ts";
import { insertAccount, type NewAccount } from "../store/account-rows.ts";
import { CoordinatorProcess } from "./coordinator-process.ts";
import { NatsServer } from "../servers/nats-server.ts";
import { PostgresServer } from "../servers/postgres-server.ts";
import { Program, type ProgramResult } from "../program.ts";
import { smallCatalog } from "../small-catalog.ts";

const DATABASE = "atoll";
/** Flags with short waits, to speed up tests. */
const QUICK = [
  ...["--lease-ms", "3000", "--lease-renew-ms", "500", "--island-grace-s", "5", "--restart-grace-s", "5"],
  ...["--heartbeat-s", "2", "--sse-heartbeat-s", "2", "--log-level", "warn"],
];

/** Maximum time until an expired lease of {@link QUICK} is noticed. */
export const LEASE_MS = 3_000;

export interface ClusterOptions {
  readonly coordinators?: number;
  /** Text of the configuration file of NATS. */
  readonly natsConfig?: string;
  /** Additional flags of `coordinator serve`, which override {@link QUICK}. */
  readonly flags?: readonly string[];
  /** Additional environment variables of each coordinator. */
  readonly environmentOf?: (index: number) => Readonly<Record<string, string>>;
  /** Program of another build, as for `Program`. */
  readonly programOf?: (index: number) => string;
}

/** Coordinator processes on their own PostgreSQL and NATS. Each is behind links that a test can break. */
export class Cluster implements AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly nats: NatsServer;
  readonly members: readonly CoordinatorProcess[];
  /** Load balancer that passes each connection to the next running coordinator. */
  readonly balancer: Link;
  readonly #key: Buffer;
  #opened = new AsyncDisposableStack();
  #turn = 0;

  private constructor(
    postgres: PostgresServer,
    nats: NatsServer,
    members: readonly CoordinatorProcess[],
    balancer: Link,
    key: Buffer,
  ) {
    this.postgres = postgres;
    this.nats = nats;
    this.members = members;
    this.balancer = balancer;
    this.#key = key;
  }

  /** @throws if PostgreSQL or NATS is not installed. */
  static async open(options: ClusterOptions = {}): Promise<Cluster> {
    const { coordinators = 3, natsConfig, flags = [], environmentOf, programOf } = options;
    await using opened = new AsyncDisposableStack();
    // PostgreSQL syncs commits, because tests kill the server.
    const postgres = opened.use(await PostgresServer.start({ isDurable: true }));
    const nats = opened.use(await NatsServer.start(natsConfig));
    await postgres.createDatabase(DATABASE);
    const key = randomBytes(32);
    const catalog = ["--catalog-directory", smallCatalog()];
    const members: CoordinatorProcess[] = [];
    let turn = 0;
    const balancer = opened.use(await Link.open(() => nextUp(members, (turn += 1)).port));
    const opening = Array.from({ length: coordinators }, (_, index) =>
      CoordinatorProcess.open({
        store: { port: postgres.port, database: DATABASE },
        busPort: nats.port,
        flags: [...QUICK, ...catalog, ...flags],
        env: { ATOLL_CLUSTER_KEY: key.toString("hex"), ...environmentOf?.(index) },
        program: programOf?.(index) ?? "coordinator",
      }),
    );
    // Coordinators that start for the first time concurrently must agree on the tables and the secrets.
    for (const result of await Promise.allSettled(opening)) {
      if (result.status === "rejected") throw result.reason;
      members.push(opened.use(result.value));
    }
    const cluster = new Cluster(postgres, nats, members, balancer, key);
    cluster.#opened = opened.move();
    return cluster;
  }

  at(index: number): CoordinatorProcess {
    const member = this.members[index % this.members.length];
    if (member === undefined) throw new Error(`Unknown coordinator ${index}`);
    return member;
  }

  /** Repairs all links, and restarts ended processes. */
  async repair(): Promise<void> {
    for (const member of this.members) {
      member.heal();
      member.thaw();
      if (!member.isUp) await member.start();
    }
  }

  /** Returns the address of the next running coordinator. */
  nextUrl(): string {
    return nextUp(this.members, (this.#turn += 1)).url;
  }

  /** Returns the addresses for an Island, in rotation from the given member. */
  islandUrls(first = 0): string[] {
    return this.members.map((_, index) => this.at(first + index).islands.url);
  }

  get location(): DatabaseLocation {
    return { address: this.postgres.addressOf(DATABASE), key: this.#key };
  }

  createAccount(email: string, credits = 1_000, limits: Partial<AccountLimits> = {}): NewAccount {
    return insertAccount(this.location, email, credits, { requestsPerMinute: 100_000, ...limits });
  }

  /** Runs a coordinator command on the database. */
  manage(...args: string[]): Promise<ProgramResult> {
    const flags = ["--store", this.postgres.addressOf(DATABASE)];
    return new Program("coordinator", [...args, ...flags], { ATOLL_CLUSTER_KEY: this.#key.toString("hex") }).ended();
  }

  /** Reads one column of one row. */
  async read<T>(sql: string): Promise<T> {
    const { rows } = await this.postgres.query(sql, DATABASE);
    return Object.values(rows[0] as object)[0] as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

function nextUp(members: readonly CoordinatorProcess[], turn: number): CoordinatorProcess {
  const up = members.filter(({ isUp }) => isUp);
  // If all coordinators are down, the first one refuses the connection.
  const member = up[turn % Math.max(1, up.length)] ?? members[0];
  if (member === undefined) throw new Error("The cluster has no coordinator");
  return member;
}
