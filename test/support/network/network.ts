import { createPublicKey } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import { readSigningKey } from "../../../coordinator/islands/signing-key.ts";
import { openStore } from "../../../coordinator/store/open-store.ts";
import { fileSecrets } from "../../../coordinator/store/secrets/file-secrets.ts";
import type { StoreLocation } from "../../../coordinator/store/store-location.ts";
import { systemClock } from "../../../shared/clock.ts";
import { storeKeys } from "../../../island-agent/config/config-file.ts";
import { getFromAgent } from "../../../island-agent/control/control-client.ts";
import { publicKeyText } from "../../../shared/cargo-signature.ts";
import { accountOfToken, insertAccount, type NewAccount } from "../store/account-rows.ts";
import { unwatchOrigin, watchOrigin } from "../http/response-watch.ts";
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
    const data = this.islandData(name);
    // Recommended models are remote, so nothing is preloaded unless a test serves it. The Island has few runtimes,
    // because probing each of them takes time.
    const quiet = {
      threads: "1",
      gpu: "off",
      "models.preload": "false",
      "models.min_free_gb": "0",
      "cargos.allow_runtimes": "llmcpp",
    };
    await this.#writeIslandConfig(data, token, { ...quiet, ...settings });
    const island = new Program("island", ["start", "--data", data], env);
    this.#islands.push(island);
    await island.printed(/connected to/);
    return island;
  }

  /** Writes the files that `island join` and `island config set` would write, without starting a process for each. */
  async #writeIslandConfig(data: string, token: string, settings: Record<string, string>): Promise<void> {
    await storeKeys(data, {
      "coordinator.public_key": await publicKeyOf(this.location),
      "coordinator.api_url": this.url,
      "coordinator.token": token,
      "coordinator.account": accountOfToken(this.location, token),
      ...settings,
    });
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

/** Returns the key that Islands pin, as `signing-key show` prints it. */
async function publicKeyOf(location: StoreLocation): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const secrets =
    typeof location === "string"
      ? fileSecrets(location)
      : stack.adopt(await openStore(location, systemClock), (store) => store.close()).secrets;
  const found = await readSigningKey(secrets);
  if (found === null) throw new Error("The coordinator has no signing key");
  return publicKeyText(createPublicKey(found.key));
}
