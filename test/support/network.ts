import { createPublicKey } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccountLimits } from "../../coordinator/store/account-store.ts";
import { storeKeys } from "../../island-agent/config/config-file.ts";
import { askAgent } from "../../island-agent/control/control-client.ts";
import { publicKeyText } from "../../shared/cargo-signature.ts";
import { accountOfToken, insertAccount, type NewAccount } from "./account-rows.ts";
import { unwatchOrigin, watchOrigin } from "./answer-watch.ts";
import { Program, runProgram } from "./program.ts";
import { smallCatalog } from "./small-catalog.ts";

/** A real network: a coordinator and Islands, each a process, in a temporary directory. */
export class Network implements AsyncDisposable {
  readonly directory: string;
  coordinator: Program;
  readonly url: string;
  readonly #args: readonly string[];
  readonly #program: string;
  readonly #islands: Program[] = [];

  private constructor(directory: string, coordinator: Program, url: string, args: readonly string[], program: string) {
    this.#args = args;
    this.#program = program;
    this.directory = directory;
    this.coordinator = coordinator;
    this.url = url;
  }

  /**
   * `flags` of `coordinator serve`; a `--port` among them stays the same over restarts. `program`: as for `Program`, if it is to be
   * another build.
   */
  static async open(
    flags: readonly string[] = [],
    env: Record<string, string> = {},
    program = "coordinator",
  ): Promise<Network> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-test-"));
    const data = join(directory, "coordinator");
    const catalog = ["--catalog-directory", smallCatalog()];
    const args = ["serve", "--port", "0", "--data", data, "--log-level", "warn", ...catalog, ...flags];
    const coordinator = new Program(program, args, env);
    const url = (await coordinator.printed(/listening on (\S+)\n/))[1] as string;
    watchOrigin(url);
    return new Network(directory, coordinator, url, args, program);
  }

  /** Ends the coordinator by `signal` and starts it again on the same data and port. */
  async restartCoordinator(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.coordinator.kill(signal);
    await this.coordinator.ended();
    this.coordinator = new Program(this.#program, this.#args);
    await this.coordinator.printed(/listening on/);
  }

  get data(): string {
    return join(this.directory, "coordinator");
  }

  /** Runs a coordinator command on the data directory beside the running server and reads its JSON. */
  async manage<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await runProgram("coordinator", ...args, "--data", this.data, "--json");
    if (code !== 0) throw new Error(`coordinator ${args.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** As a client that may ask as often as it likes: how often a test asks until something is so depends on the machine's speed. */
  createAccount(email: string, credits = 1_000, limits: Partial<AccountLimits> = {}): NewAccount {
    return insertAccount(this.data, email, credits, { requestsPerMinute: 100_000, ...limits });
  }

  islandData(name: string): string {
    return join(this.directory, name);
  }

  /** Starts an Island that has joined, and waits until it is connected. `settings`: keys of its configuration file. */
  async startIsland(
    name: string,
    token: string,
    settings: Record<string, string> = {},
    env: Record<string, string> = {},
  ): Promise<Program> {
    const data = this.islandData(name);
    // What is recommended is far away: nothing is preloaded unless a test serves it. Each runtime that is probed takes its time.
    const quiet = { threads: "1", gpu: "off", "models.preload": "false", "cargos.allow_runtimes": "llmcpp" };
    await this.#writeIslandConfig(data, token, { ...quiet, ...settings });
    const island = new Program("island", ["start", "--data", data], env);
    this.#islands.push(island);
    await island.printed(/connected to/);
    return island;
  }

  /** As `island join` and `island config set` write it, without a process for each. */
  async #writeIslandConfig(data: string, token: string, settings: Record<string, string>): Promise<void> {
    const signingKey = createPublicKey(await readFile(join(this.data, "signing.key"), "utf8"));
    await storeKeys(data, {
      "coordinator.public_key": publicKeyText(signingKey),
      "coordinator.api_url": this.url,
      "coordinator.token": token,
      "coordinator.account": accountOfToken(this.data, token),
      ...settings,
    });
  }

  /** What `island status --json` prints, asked of the agent itself: tests ask often, and a process for each takes its time. */
  async islandStatus<T>(name: string): Promise<T> {
    const status = await askAgent<T>(this.islandData(name), "/status");
    if (status === undefined) throw new Error(`No agent runs on ${this.islandData(name)}`);
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    unwatchOrigin(this.url);
    await Promise.all(this.#islands.map((island) => island[Symbol.asyncDispose]()));
    await this.coordinator[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
