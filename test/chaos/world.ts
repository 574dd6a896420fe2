import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createPublicKey } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { storeKeys } from "../../island-agent/config/config-file.ts";
import { getFromAgent } from "../../island-agent/control/control-client.ts";
import { publicKeyText } from "../../shared/cargo-signature.ts";
import { insertAccount, type NewAccount } from "../support/store/account-rows.ts";
import { freePort } from "../support/free-port.ts";
import { Program } from "../support/program.ts";
import { smallCatalog } from "../support/small-catalog.ts";
import { CAN_MOUNT, SmallDisk } from "../support/small-disk.ts";
import { Link } from "./link.ts";
import { ClockFault } from "./clock-fault.ts";
import { FileFaults, type WriteFault } from "./file-faults.ts";
import { type Fault, type FaultKind, ISLANDS } from "./plan.ts";
import { readProcessTree } from "./processes.ts";

const DISK_BYTES = 256 * 2 ** 20;
const RESTART_AFTER_MS = 200;

/** Unexpected end of a program. */
export interface BadEnd {
  readonly program: string;
  readonly code: number | null;
  readonly stderr: string;
}

/**
 * A coordinator and Islands as processes that are restarted when they end. Each Island and all clients connect through
 * a link.
 */
export class World implements AsyncDisposable {
  readonly directory: string;
  readonly clients: Link;
  readonly badEnds: BadEnd[] = [];
  /** Times from the end of the coordinator until it listens again. */
  readonly coordinatorRecoveriesMs: number[] = [];
  /** Number of log entries about read-only storage, in ended coordinator processes. */
  readOnlyPeriods = 0;
  readonly #port: number;
  readonly #links: Link[] = [];
  readonly #islands: (Program | null)[] = [];
  readonly #frozen = new Set<number>();
  readonly #clock: ClockFault;
  readonly #fileFaults: FileFaults;
  #disk: SmallDisk | null = null;
  #coordinator: Program | null = null;
  #coordinatorDiedAtMs: number | null = null;
  /** Set by `stop`. */
  #isOver = false;
  /** Pending repairs and restarts. */
  readonly #pending = new Set<Promise<void>>();

  private constructor(directory: string, port: number, clients: Link) {
    this.directory = directory;
    this.#port = port;
    this.clients = clients;
    this.#clock = new ClockFault(join(directory, "clock"));
    this.#fileFaults = new FileFaults(join(directory, "fiu"));
  }

  static async open(): Promise<World> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-chaos-"));
    const port = await freePort();
    const world = new World(directory, port, await Link.open(port));
    await mkdir(world.data);
    if (CAN_MOUNT) world.#disk = new SmallDisk(DISK_BYTES, world.data);
    await world.#clock.step(0);
    await world.#startCoordinator();
    for (let index = 0; index < ISLANDS; index += 1) world.#links.push(await Link.open(port));
    return world;
  }

  /** Returns the kinds of faults that this machine permits. */
  static kinds(): FaultKind[] {
    const kinds: FaultKind[] = ["coordinator", "island", "host", "link"];
    if (ClockFault.isPossible) kinds.push("clock");
    if (CAN_MOUNT) kinds.push("disk");
    if (FileFaults.isPossible) kinds.push("writes");
    return kinds;
  }

  get data(): string {
    return join(this.directory, "coordinator");
  }

  get url(): string {
    return this.clients.url;
  }

  createAccount(email: string): NewAccount {
    const unlimited = { requestsPerMinute: 100_000, concurrentJobs: 1_000, concurrentStreams: 1_000 };
    return insertAccount(this.data, email, 10_000, unlimited);
  }

  async startIslands(token: string, accountId: string): Promise<void> {
    const signingKey = createPublicKey(await readFile(join(this.data, "signing.key"), "utf8"));
    for (const [index, link] of this.#links.entries()) {
      await storeKeys(this.#islandData(index), {
        "coordinator.public_key": publicKeyText(signingKey),
        "coordinator.api_url": link.url,
        "coordinator.token": token,
        "coordinator.account": accountId,
        slots: "2",
        threads: "1",
        gpu: "off",
        "models.preload": "false",
        "cargos.allow_runtimes": "llmcpp, wasm",
      });
      await this.#startIsland(index).printed(/connected to/);
    }
  }

  /** Injects the fault now, and repairs it later. */
  inflict(fault: Fault): void {
    switch (fault.on) {
      case "coordinator":
        return this.#signal(this.#coordinator, fault.does, fault.forMs);
      case "island":
        return this.#signal(this.#islands[fault.index] ?? null, fault.does, fault.forMs);
      case "host": {
        const agent = this.#islands[fault.index]?.process.pid;
        const hosts =
          agent === undefined ? [] : readProcessTree(agent).filter(({ command }) => command.includes("-host."));
        for (const { pid } of hosts) this.#signalProcess(pid, fault.does, fault.forMs);
        return undefined;
      }
      case "link":
        return this.#break(fault);
      case "clock":
        return this.#track(this.#clock.step(fault.bySeconds));
      case "disk":
        return this.#track(this.#fillDisk(fault.forMs));
      case "writes":
        return this.#track(this.#failWrites(fault.does, fault.forMs));
      default:
        return fault satisfies never;
    }
  }

  /** Repairs all faults. Resolves when all Islands are connected. */
  async repair(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    for (const link of [this.clients, ...this.#links]) link.heal();
    for (let index = 0; index < ISLANDS; index += 1) await this.#untilConnected(index);
  }

  islandStatus(index: number): Promise<AgentStatus | undefined> {
    return getFromAgent<AgentStatus>(this.#islandData(index), "/status").catch(() => undefined);
  }

  /** Stops all programs in an orderly way. @returns their processes that are still running. */
  async stop(): Promise<string[]> {
    this.#isOver = true;
    const programs = [...this.#islands, this.#coordinator].filter((program) => program !== null);
    const before = programs.flatMap(({ process }) => (process.pid === undefined ? [] : readProcessTree(process.pid)));
    for (const program of programs) program.kill("SIGTERM");
    await Promise.all(programs.map((program) => program.ended()));
    return before
      .filter(({ pid, command }) => readProcessTree(pid)[0]?.command === command)
      .map(({ command }) => command);
  }

  /** Runs a command of the coordinator on the data directory. */
  async manage(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return new Program("coordinator", [...args, "--data", this.data]).ended();
  }

  /** Returns the names of temporary files left in the data directories. */
  async leftFiles(): Promise<string[]> {
    const all = await readdir(this.directory, { recursive: true });
    return all.filter((name) => /\.(part|tmp|lock-\w+)$/.test(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const pid of this.#frozen) trySignal(pid, "SIGCONT");
    for (const program of [...this.#islands, this.#coordinator]) program?.kill("SIGKILL");
    for (const program of [...this.#islands, this.#coordinator]) await program?.ended();
    for (const link of [this.clients, ...this.#links]) await link[Symbol.asyncDispose]();
    this.#disk?.[Symbol.dispose]();
    await rm(this.directory, { recursive: true, force: true });
  }

  #islandData(index: number): string {
    return join(this.directory, `island-${index}`);
  }

  async #startCoordinator(): Promise<void> {
    const grace = ["--island-grace-s", "5", "--heartbeat-s", "2", "--sse-heartbeat-s", "2"];
    const settings = [...grace, "--min-free-disk-mb", "16", "--max-attempts", "10"];
    const args = ["serve", "--port", String(this.#port), "--data", this.data, "--log-level", "warn"];
    const shims = [this.#clock.environment(), this.#fileFaults.environment()];
    const preload = shims.flatMap((shim) => shim.preload).join(" ");
    const env = Object.assign({ LD_PRELOAD: preload }, ...shims.map(({ variables }) => variables));
    const program = new Program("coordinator", [...args, "--catalog-directory", smallCatalog(), ...settings], env);
    this.#coordinator = program;
    void program.ended().then((end) => this.#ended("coordinator", program, end, () => this.#startCoordinator()));
    await Promise.race([program.printed(/listening on/), program.ended()]).catch(() => undefined);
    const { exitCode, signalCode } = program.process;
    if (this.#coordinatorDiedAtMs === null || exitCode !== null || signalCode !== null) return;
    this.coordinatorRecoveriesMs.push(Math.round(performance.now() - this.#coordinatorDiedAtMs));
    this.#coordinatorDiedAtMs = null;
  }

  #startIsland(index: number): Program {
    const program = new Program("island", ["start", "--data", this.#islandData(index), "--log-level", "warn"]);
    this.#islands[index] = program;
    const restart = async (): Promise<void> => void this.#startIsland(index);
    void program.ended().then((end) => this.#ended(`island ${index}`, program, end, restart));
    return program;
  }

  #ended(
    name: string,
    program: Program,
    { code, stderr }: { code: number | null; stderr: string },
    restart: () => Promise<void>,
  ): void {
    this.readOnlyPeriods += stderr.split("Storage is read-only: nothing new is accepted").length - 1;
    const { signalCode } = program.process;
    // SIGTERM ends a process while its Node.js starts. A second SIGTERM during the stop makes the process exit with
    // 130.
    const isExpected = code === 0 || code === 130 || signalCode === "SIGKILL" || signalCode === "SIGTERM";
    if (program === this.#coordinator) this.#coordinatorDiedAtMs = performance.now();
    if (!isExpected) this.badEnds.push({ program: name, code, stderr: stderr.slice(-2_000) });
    if (!this.#isOver) this.#track(wait(RESTART_AFTER_MS).then(() => (this.#isOver ? undefined : restart())));
  }

  #signal(program: Program | null, does: "kill" | "term" | "stop", forMs: number): void {
    if (program?.process.pid !== undefined) this.#signalProcess(program.process.pid, does, forMs);
  }

  #signalProcess(pid: number, does: "kill" | "term" | "stop", forMs: number): void {
    if (does !== "stop") return trySignal(pid, does === "kill" ? "SIGKILL" : "SIGTERM");
    trySignal(pid, "SIGSTOP");
    this.#frozen.add(pid);
    return this.#track(
      wait(forMs).then(() => {
        this.#frozen.delete(pid);
        trySignal(pid, "SIGCONT");
      }),
    );
  }

  #break({ index, does, forMs }: Extract<Fault, { on: "link" }>): void {
    const link = index === "clients" ? this.clients : this.#links[index];
    if (link === undefined) return undefined;
    if (does === "cut") return link.cut();
    if (does === "reset") return link.reset();
    if (does === "half-open") return link.halfOpen();
    if (does === "delay") link.delay(forMs / 20);
    else link.stall(does === "stall" ? "both" : does === "stall-up" ? "up" : "down");
    return this.#track(wait(forMs).then(() => link.heal()));
  }

  async #fillDisk(forMs: number): Promise<void> {
    this.#disk?.fill();
    await wait(forMs);
    this.#disk?.free();
  }

  async #failWrites(does: WriteFault, forMs: number): Promise<void> {
    await this.#fileFaults.begin(does, this.#coordinator);
    await wait(forMs);
    await this.#fileFaults.end(this.#coordinator);
  }

  async #untilConnected(index: number): Promise<void> {
    for (let tries = 0; tries < 600; tries += 1) {
      if ((await this.islandStatus(index))?.link === "connected") return;
      await wait(100);
    }
    throw new Error(`Island ${index} did not reconnect`);
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.then(
      () => undefined,
      (error: unknown) => void this.badEnds.push({ program: "the harness", code: null, stderr: String(error) }),
    );
    this.#pending.add(tracked);
    void tracked.finally(() => this.#pending.delete(tracked));
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
