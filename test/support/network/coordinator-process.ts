import { Link } from "../../chaos/link.ts";
import { freePort } from "../free-port.ts";
import { Program, type ProgramResult } from "../program.ts";

export interface MemberOptions {
  /** Ports of PostgreSQL and NATS, and the name of the database. */
  readonly store: { readonly port: number; readonly database: string };
  readonly busPort: number;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly program: string;
}

/** A coordinator process of a cluster, which a test can restart. All its connections go through separate links. */
export class CoordinatorProcess implements AsyncDisposable {
  readonly clients: Link;
  readonly islands: Link;
  readonly store: Link;
  readonly bus: Link;
  readonly #options: MemberOptions;
  readonly #port: number;
  #program: Program | null = null;
  #isFrozen = false;

  private constructor(options: MemberOptions, port: number, links: readonly Link[]) {
    this.#options = options;
    this.#port = port;
    [this.clients, this.islands, this.store, this.bus] = links as [Link, Link, Link, Link];
  }

  static async open(options: MemberOptions): Promise<CoordinatorProcess> {
    const port = await freePort();
    const targets = [port, port, options.store.port, options.busPort];
    const member = new CoordinatorProcess(options, port, await Promise.all(targets.map((target) => Link.open(target))));
    await member.start();
    return member;
  }

  /** Address for clients. */
  get url(): string {
    return this.clients.url;
  }

  get port(): number {
    return this.#port;
  }

  /** The current process, or the most recent one if none is running. */
  get program(): Program {
    if (this.#program === null) throw new Error("The coordinator was never started");
    return this.#program;
  }

  get isUp(): boolean {
    if (this.#program === null || this.#isFrozen) return false;
    const { exitCode, signalCode } = this.#program.process;
    return exitCode === null && signalCode === null;
  }

  /**
   * Resolves when the coordinator listens. Rejects if its process ends first. `program` is another build to use from
   * now on, as for `Program`.
   */
  async start(program = this.#options.program): Promise<void> {
    const { store, flags, env } = this.#options;
    const shared = ["--store", `postgres://atoll@127.0.0.1:${this.store.port}/${store.database}`];
    const own = ["--port", String(this.#port), "--bus", `nats://127.0.0.1:${this.bus.port}`];
    const args = ["serve", ...shared, ...own, "--peer-url", this.islands.url, ...flags];
    this.#program = new Program(program, args, env);
    await this.#program.printed(/listening on/);
  }

  /** Ends the process. Returns its result, which includes standard error. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<ProgramResult> {
    this.thaw();
    this.program.kill(signal);
    return this.program.ended();
  }

  freeze(): void {
    this.#isFrozen = true;
    this.program.kill("SIGSTOP");
  }

  thaw(): void {
    if (this.#isFrozen) this.program.kill("SIGCONT");
    this.#isFrozen = false;
  }

  heal(): void {
    for (const link of [this.clients, this.islands, this.store, this.bus]) link.heal();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.heal();
    this.thaw();
    await this.#program?.[Symbol.asyncDispose]();
    for (const link of [this.clients, this.islands, this.store, this.bus]) await link[Symbol.asyncDispose]();
  }
}
