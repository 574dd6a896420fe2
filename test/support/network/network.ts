import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import type { StoreLocation } from "../../../coordinator/store/store-location.ts";
import { getFromAgent } from "../../../island-agent/control/control-client.ts";
import { insertAccount, type NewAccount } from "../store/account-rows.ts";
import { unwatchOrigin, watchOrigin } from "../http/response-watch.ts";
import { startIslandProcess } from "./island-process.ts";
import { NetworkPeers } from "./network-peers.ts";
import { Program, type ProgramResult } from "../program.ts";
import { ARE_SEVERAL } from "./several-coordinators.ts";
import { smallCatalog } from "../small-catalog.ts";
import { locationFlags, locationFor, STORE_ENV } from "../store/test-store.ts";

/**
 * A real network of a coordinator and Islands as processes in a temporary directory. With ATOLL_TEST_COORDINATORS there
 * are several coordinators, and each request and Island goes to the next one.
 */
export class Network implements AsyncDisposable {
  readonly directory: string;
  /** Location of the coordinator's data, which is the directory or a PostgreSQL database. */
  readonly location: StoreLocation;
  coordinator: Program;
  readonly url: string;
  readonly #args: readonly string[];
  readonly #program: string;
  readonly #peers: NetworkPeers | null;
  readonly #islands: Program[] = [];

  private constructor(
    directory: string,
    location: StoreLocation,
    coordinator: Program,
    url: string,
    args: readonly string[],
    program: string,
    peers: NetworkPeers | null,
  ) {
    this.#args = args;
    this.#peers = peers;
    this.location = location;
    this.#program = program;
    this.directory = directory;
    this.coordinator = coordinator;
    this.url = url;
  }

  /**
   * Starts a coordinator. `flags` are flags of `coordinator serve`. A `--port` stays the same over restarts. `program`
   * is another build, as for `Program`.
   */
  static async open(
    flags: readonly string[] = [],
    env: Record<string, string> = {},
    program = "coordinator",
  ): Promise<Network> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-test-"));
    const location = await locationFor(join(directory, "coordinator"));
    const catalog = ["--catalog-directory", smallCatalog()];
    const args = ["serve", "--port", "0", ...locationFlags(location), "--log-level", "warn", ...catalog, ...flags];
    let network: Network | null = null;
    const isUp = (): boolean => network?.isCoordinatorUp === true;
    const peers = ARE_SEVERAL ? await NetworkPeers.open(args, { ...STORE_ENV, ...env }, isUp) : null;
    // If a flag is repeated, its last value applies.
    const ownArgs = [...args, ...(peers?.firstFlags ?? [])];
    const coordinator = new Program(program, ownArgs, { ...STORE_ENV, ...env });
    const [, listening = ""] = await coordinator.printed(/listening on (\S+)\n/);
    network = new Network(directory, location, coordinator, peers?.url ?? listening, ownArgs, program, peers);
    watchOrigin(network.url);
    return network;
  }

  /** Whether the coordinator has printed its address and is running. */
  get isCoordinatorUp(): boolean {
    const { process, stdout } = this.coordinator;
    return process.exitCode === null && process.signalCode === null && stdout.includes("listening on");
  }

  /** Ends the coordinator by `signal` and starts it again on the same data and port. */
  async restartCoordinator(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.coordinator.kill(signal);
    await this.coordinator.ended();
    this.coordinator = new Program(this.#program, this.#args, STORE_ENV);
    await this.coordinator.printed(/listening on/);
  }

  /** The data directory, for tests that only use SQLite. */
  get data(): string {
    if (typeof this.location !== "string") throw new Error("The network's data is in a database");
    return this.location;
  }

  /** Runs a coordinator command on the data of the running server, and returns its JSON. */
  async manage<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...args, "--json");
    if (code !== 0) throw new Error(`coordinator ${args.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Runs a coordinator command on the data of the running server. */
  async run(...args: string[]): Promise<ProgramResult> {
    return new Program("coordinator", [...args, ...locationFlags(this.location)], STORE_ENV).ended();
  }

  /**
   * Creates an account without a request limit, because the number of polls of a test depends on the machine's speed.
   */
  createAccount(email: string, credits = 1_000, limits: Partial<AccountLimits> = {}): NewAccount {
    return insertAccount(this.location, email, credits, { requestsPerMinute: 100_000, ...limits });
  }

  islandData(name: string): string {
    return join(this.directory, name);
  }

  /**
   * Starts an Island that has joined, and waits until it is connected. `settings` are keys of its configuration file.
   */
  async startIsland(
    name: string,
    token: string,
    settings: Record<string, string> = {},
    env: Record<string, string> = {},
  ): Promise<Program> {
    const joined = { location: this.location, urls: [this.url] };
    const island = await startIslandProcess(joined, this.islandData(name), token, settings, env);
    this.#islands.push(island);
    return island;
  }

  /** Returns the output of `island status --json`, read from the agent directly, because tests poll it often. */
  async islandStatus<T>(name: string): Promise<T> {
    const status = await getFromAgent<T>(this.islandData(name), "/status");
    if (status === undefined) throw new Error(`No agent runs on ${this.islandData(name)}`);
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    unwatchOrigin(this.url);
    await Promise.all(this.#islands.map((island) => island[Symbol.asyncDispose]()));
    await this.coordinator[Symbol.asyncDispose]();
    await this.#peers?.[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
