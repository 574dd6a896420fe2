import { grantPostings } from "../../coordinator/credits/postings.ts";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { Random } from "../support/random.ts";
import { CoordinatorLife } from "./coordinator-life.ts";
import { Link, type LinkDeps } from "./link.ts";
import { makeMischief } from "./mischief.ts";
import { SimulatedRequest } from "./simulated-client.ts";
import { SimulatedTime } from "./simulated-clock.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { SimulatedIsland } from "./simulated-island.ts";
import { SimulatedReader } from "./simulated-reader.ts";
import type { Step } from "./steps.ts";

type LinkStep = Extract<Step, { link: number }>;

export interface WorldPlan {
  readonly seed: number;
  /** Slots of each Island. */
  readonly slots: readonly number[];
  /** Whether the last Island violates the protocol. */
  readonly hasBroken: boolean;
  readonly grantMicro: number;
}

/** Two clients, and the owner of the Islands with even numbers. The first client owns the other Islands. */
export const ACCOUNTS = ["client-0", "client-1", "owner"] as const;

/**
 * All simulated parts of a seed. A step acts on them immediately, and its consequences follow while the caller drains
 * the microtasks.
 */
export class World {
  readonly plan: WorldPlan;
  readonly database: SimulatedDatabase;
  readonly time = new SimulatedTime();
  readonly disk: SimulatedDisk;
  readonly islands: readonly SimulatedIsland[];
  readonly links: Link[] = [];
  readonly requests = new Map<number, SimulatedRequest>();
  readonly readers = new Map<number, SimulatedReader>();
  /** Log of the steps and their effects. */
  readonly history: string[] = [];
  /** Violations that must never occur. */
  readonly faults: string[] = [];
  /** The coordinator, or null while it is down. */
  life: CoordinatorLife | null = null;
  hasJumped = false;
  /** Last start of the coordinator, by the wall clock. */
  startedAtMs = 0;
  readonly #random: Random;
  readonly #names = new Map<string, string>();

  constructor(plan: WorldPlan, database: SimulatedDatabase) {
    this.plan = plan;
    this.database = database;
    this.disk = new SimulatedDisk(database.runner);
    this.#random = new Random(plan.seed);
    const onFault = (fault: string): void => void this.faults.push(fault);
    this.islands = plan.slots.map((slots, index) => {
      const accountId = index % 2 === 0 ? "owner" : "client-0";
      return new SimulatedIsland({ index, accountId, slots, onFault, isTainted: (jobId) => this.isTainted(jobId) });
    });
    database.empty();
    for (const id of ACCOUNTS) database.addAccount(id, id === "owner" ? [] : grantPostings(id, plan.grantMicro));
    this.start();
  }

  /** Returns the coordinator if it accepts clients and Islands. */
  get serving(): CoordinatorLife | null {
    return this.life?.isServing === true ? this.life : null;
  }

  /** Returns the Island that violates the protocol, or undefined if all Islands are honest. */
  get broken(): SimulatedIsland | undefined {
    return this.plan.hasBroken ? this.islands.at(-1) : undefined;
  }

  /** Whether a broken Island had the job, so that its records may be wrong. */
  isTainted(jobId: string): boolean {
    return this.broken?.assigned.some((attempt) => attempt.jobId === jobId) === true;
  }

  /** Performs the step. Returns false, without a change, if the step is not possible now. */
  begin(step: Step): boolean {
    switch (step.do) {
      case "submit":
        return this.#submit(step);
      case "repeat":
        return this.#repeat(this.requests.get(step.request));
      case "cancel":
        return this.#cancel(this.requests.get(step.request), step.nth);
      case "open":
        return this.#open(step);
      case "read":
        return this.#withReader(step.reader, (reader) => reader.read(step.events));
      case "cut":
        return this.#withReader(step.reader, (reader) => reader.cut());
      case "dial":
        return this.#dial(this.islands[step.island]);
      case "work":
        return this.#work(step);
      case "mischief": {
        const island = this.islands[step.island];
        return island !== undefined && makeMischief(island, this.islands, step.pick);
      }
      case "restartIsland":
        this.islands[step.island]?.restart();
        return this.islands[step.island] !== undefined;
      case "commit":
        if (this.disk.waiting.length === 0) return false;
        this.tell(`commit ${this.disk.waiting.join(" ")}`);
        this.disk.commit();
        return true;
      case "fillDisk":
      case "freeDisk":
        this.disk.isFull = step.do === "fillDisk";
        return true;
      case "timer":
        return this.life?.clock.fireNext(Infinity) ?? false;
      case "setClock":
        this.time.jumpMs += step.ms;
        this.hasJumped = true;
        return true;
      case "start":
        return this.start();
      case "pass":
      case "crash":
        throw new Error(`${step.do} takes several ticks`);
      default:
        return this.#actOnLink(step);
    }
  }

  tell(line: string): void {
    this.history.push(`    ${line}`);
  }

  start(): boolean {
    if (this.life !== null) return false;
    this.startedAtMs = this.time.nowMs;
    const { database, disk, time } = this;
    const random = (): number => this.#random.next();
    const life = new CoordinatorLife({ database, disk, time, random, onFatal: (error) => this.#noteFatal(error) });
    this.life = life;
    life.recover().catch((error: unknown) => void this.faults.push(`the coordinator did not start: ${String(error)}`));
    return true;
  }

  kill(): void {
    if (this.life === null) return;
    this.life.kill();
    this.life = null;
    for (const reader of this.readers.values()) {
      if (reader.outputs > this.database.storedOutputs(reader.jobId)) reader.mayLose = true;
      reader.cut();
    }
    for (const request of this.requests.values()) {
      request.cut();
      if (request.plan.kind === "chat") request.isCancelAsked = true;
    }
  }

  #noteFatal(error: unknown): void {
    this.faults.push(`the coordinator gave up: ${String(error)}`);
    this.kill();
  }

  #submit({ plan }: Extract<Step, { do: "submit" }>): boolean {
    const life = this.serving;
    if (life === null || this.requests.has(plan.request)) return false;
    const request = new SimulatedRequest(plan, (line) => this.tell(line));
    this.requests.set(plan.request, request);
    request.send(life);
    return true;
  }

  #repeat(request: SimulatedRequest | undefined): boolean {
    if (this.serving === null || request === undefined || !request.plan.isKeyed) return false;
    request.send(this.serving);
    return true;
  }

  #cancel(request: SimulatedRequest | undefined, nth: number | null): boolean {
    if (this.serving === null || request === undefined || request.jobIds === null) return false;
    request.cancel(this.serving, nth);
    return true;
  }

  #open({ reader: number, request: of, nth }: Extract<Step, { do: "open" }>): boolean {
    const request = this.requests.get(of);
    if (this.serving === null || request === undefined || request.jobIds === null) return false;
    const jobId = request.jobIds[nth % request.jobIds.length] ?? "";
    const { accountId } = request.plan;
    const reader =
      this.readers.get(number) ??
      new SimulatedReader({ reader: number, accountId, jobId, tell: (line) => this.tell(line) });
    this.readers.set(number, reader);
    if (reader.isOpen || reader.ending !== null) return false;
    reader.open(this.serving);
    return true;
  }

  #withReader(number: number, act: (reader: SimulatedReader) => void): boolean {
    const reader = this.readers.get(number);
    if (reader?.isOpen !== true) return false;
    act(reader);
    return true;
  }

  #dial(island: SimulatedIsland | undefined): boolean {
    if (this.serving === null || island === undefined || island.link !== null) return false;
    const sessionId = `session ${this.links.length}`;
    const onFault = (fault: string): void => void this.faults.push(fault);
    const { serving } = this;
    // The database does not know a job that is being stored.
    const isBeingStored = (jobId: string): boolean => (serving.registry.get(jobId)?.stored ?? null) !== null;
    const mayForget: LinkDeps["mayForget"] = ({ jobId, attempt, seq }) =>
      island === this.broken || (!isBeingStored(jobId) && this.database.mayForget(jobId, attempt, seq));
    const link = new Link({ life: this.serving, accountId: island.accountId, sessionId, onFault, mayForget });
    this.links.push(link);
    island.dial(link);
    return true;
  }

  #work({ island: index, run: pick, auditEvent }: Extract<Step, { do: "work" }>): boolean {
    const island = this.islands[index];
    const run = island?.runs[pick % island.runs.length];
    if (island === undefined || run === undefined) return false;
    island.work(run, auditEvent);
    return true;
  }

  #actOnLink(step: LinkStep): boolean {
    const link = this.links[step.link];
    if (link === undefined) return false;
    const island = this.islands.find((each) => each.link === link);
    switch (step.do) {
      case "up":
        if (link.isStalled || link.up.length === 0) return false;
        this.tell(`coordinator gets ${this.#describe(link.up[0])}`);
        link.deliverUp();
        return true;
      case "down": {
        const [frame] = link.down;
        if (link.isStalled || frame === undefined || island === undefined) return false;
        this.tell(`Island ${island.index} gets ${this.#describe(frame)}`);
        link.down.shift();
        island.receive(frame);
        return true;
      }
      case "stall":
      case "flow":
        link.isStalled = step.do === "stall";
        return true;
      case "loseAtCoordinator":
        if (link.isGone) return false;
        link.lose();
        return true;
      case "loseAtIsland":
        if (island === undefined) return false;
        island.lose();
        return true;
      default:
        return step satisfies never;
    }
  }

  /**
   * Formats the type, attempt and number of a frame. Jobs are numbered by first occurrence, because their ids differ
   * between runs.
   */
  #describe(frame: FromIsland | FromCoordinator | undefined): string {
    if (frame === undefined) return "nothing";
    if (!("jobId" in frame)) return frame.type;
    const seq = "seq" in frame ? ` #${frame.seq}` : "";
    return `${frame.type} ${this.nameOf(frame.jobId)}/${frame.attempt}${seq}`;
  }

  nameOf(jobId: string): string {
    const name = this.#names.get(jobId) ?? `job ${this.#names.size}`;
    this.#names.set(jobId, name);
    return name;
  }
}
