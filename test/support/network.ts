import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwatchOrigin, watchOrigin } from "./answer-watch.ts";
import { Program, runProgram } from "./program.ts";

/** A real network: a coordinator and Islands, each a process, in a temporary directory. */
export class Network implements AsyncDisposable {
  readonly directory: string;
  coordinator: Program;
  readonly url: string;
  readonly #args: readonly string[];
  readonly #islands: Program[] = [];

  private constructor(directory: string, coordinator: Program, url: string, args: readonly string[]) {
    this.#args = args;
    this.directory = directory;
    this.coordinator = coordinator;
    this.url = url;
  }

  /** `flags` of `coordinator serve`; a `--port` among them stays the same over restarts. */
  static async open(flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Network> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-test-"));
    const data = join(directory, "coordinator");
    const args = ["serve", "--port", "0", "--data", data, "--log-level", "warn", ...flags];
    const coordinator = new Program("coordinator", args, env);
    const url = (await coordinator.printed(/listening on (\S+)\n/))[1] as string;
    watchOrigin(url);
    return new Network(directory, coordinator, url, args);
  }

  /** Ends the coordinator by `signal` and starts it again on the same data and port. */
  async restartCoordinator(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.coordinator.kill(signal);
    await this.coordinator.ended();
    this.coordinator = new Program("coordinator", this.#args);
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

  /** `limits`: as flags of `coordinator account limits`. */
  async createAccount(
    email: string,
    credits = 1_000,
    limits: readonly string[] = [],
  ): Promise<{ id: string; key: string; islandToken: string }> {
    const account = await this.manage<{ id: string }>(
      "account",
      "create",
      "--email",
      email,
      "--password",
      "correct horse",
      "--credits",
      String(credits),
    );
    if (limits.length > 0) await this.manage("account", "limits", "--email", email, ...limits);
    const { key } = await this.manage<{ key: string }>("key", "create", "--email", email);
    const { token } = await this.manage<{ token: string }>("island-token", "create", "--email", email);
    return { id: account.id, key, islandToken: token };
  }

  islandData(name: string): string {
    return join(this.directory, name);
  }

  /** Joins and starts an Island and waits until it is connected. */
  async startIsland(
    name: string,
    token: string,
    settings: Record<string, string> = {},
    env: Record<string, string> = {},
  ): Promise<Program> {
    const data = this.islandData(name);
    const joined = await runProgram("island", "join", this.url, "--token", token, "--data", data);
    if (joined.code !== 0) throw new Error(`island join ended with ${joined.code}: ${joined.stderr}`);
    // What is recommended is far away: nothing is preloaded unless a test serves it.
    const quiet = { threads: "1", gpu: "off", "models.preload": "false" };
    for (const [key, value] of Object.entries({ ...quiet, ...settings })) {
      const set = await runProgram("island", "config", "set", key, value, "--data", data);
      if (set.code !== 0) throw new Error(`island config set ${key} ended with ${set.code}: ${set.stderr}`);
    }
    const island = new Program("island", ["start", "--data", data], env);
    this.#islands.push(island);
    await island.printed(/connected to/);
    return island;
  }

  async islandStatus<T>(name: string): Promise<T> {
    const { stdout, stderr } = await runProgram("island", "status", "--json", "--data", this.islandData(name));
    if (stdout.trim() === "") throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    unwatchOrigin(this.url);
    await Promise.all(this.#islands.map((island) => island[Symbol.asyncDispose]()));
    await this.coordinator[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
