import { randomUUID } from "node:crypto";
import type { Assign, FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { makeHello, makeIslandState } from "../support/network/frames.ts";
import type { Random } from "../support/random.ts";
import { Attempt } from "./attempt.ts";

const SLOTS = 2;
const RETRY_MS = 1_000;
const IDLE_MS = 3_000;

export interface ScriptedIslandOptions {
  readonly name: string;
  readonly url: string;
  readonly account: NewAccount;
  /** Reconnects as another host after a while without jobs, as in quarantine. */
  readonly renames: boolean;
  readonly random: Random;
  /** Runs an assignment, honestly or not. */
  readonly run: (attempt: Attempt, island: ScriptedIsland) => Promise<void>;
}

/** An Island that stays connected, sends heartbeats, and runs each job by a script. */
export class ScriptedIsland {
  readonly options: ScriptedIslandOptions;
  /** Running attempts by job. */
  readonly attempts = new Map<string, Attempt>();
  /** Frames of ended attempts, for lies that resend them. */
  readonly oldFrames: FromIsland[] = [];
  /** Jobs with claimed progress in heartbeats. */
  readonly claimedWork = new Map<string, number>();
  /** Number of sessions that the coordinator ended. */
  drops = 0;
  #link: FakeIsland | null = null;
  #isOver = false;
  #beats = 0;
  #assignedMs = 0;
  /** All host ids that this Island used. */
  readonly hostIds: string[] = [randomUUID()];
  readonly #life: Promise<void>;

  private constructor(options: ScriptedIslandOptions) {
    this.options = options;
    this.#life = this.#live();
  }

  static open(options: ScriptedIslandOptions): ScriptedIsland {
    return new ScriptedIsland(options);
  }

  send(...frames: FromIsland[]): void {
    if (this.#link?.socket.readyState === this.#link?.socket.OPEN) this.#link?.send(...frames);
  }

  sendRaw(data: Buffer | string): void {
    if (this.#link?.socket.readyState === this.#link?.socket.OPEN) this.#link?.sendRaw(data);
  }

  heartbeat(): void {
    this.#beats += 1;
    const working = [...this.attempts.values()]
      .filter(({ jobId }) => this.claimedWork.has(jobId))
      .map(({ jobId, attempt }) => ({ jobId, attempt, count: this.#beats }));
    this.send({ type: "heartbeat", state: makeIslandState({ working }) });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#link?.cut();
    for (const attempt of this.attempts.values()) attempt.end();
    await this.#life;
  }

  async #live(): Promise<void> {
    while (!this.#isOver) {
      await this.#serve().catch(() => undefined);
      for (const attempt of this.attempts.values()) attempt.end();
      this.attempts.clear();
      this.claimedWork.clear();
      if (!this.#isOver) this.drops += 1;
      if (!this.#isOver) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #serve(): Promise<void> {
    const { url, account } = this.options;
    const hostId = this.hostIds.at(-1) ?? "";
    const runtimes = (["llmcpp", "wasm"] as const).map((type) => ({ type, version: "test" }));
    const state = makeIslandState({ working: [] });
    const link = await FakeIsland.dial(url, account.islandToken);
    // A rejected session emits an error as well, which `closed` already reports.
    link.socket.on("error", () => undefined);
    this.#link = link;
    link.send(makeHello({ hostId, runtimes, slots: SLOTS, state }));
    const { heartbeatMs } = await link.next("welcome");
    link.handle((frame) => this.#receive(frame));
    this.#assignedMs = performance.now();
    const timer = setInterval(() => this.#beat(), heartbeatMs);
    await link.closed;
    clearInterval(timer);
  }

  #beat(): void {
    this.heartbeat();
    const isIdle = this.attempts.size === 0 && performance.now() - this.#assignedMs > IDLE_MS;
    if (!this.options.renames || !isIdle) return;
    this.hostIds.push(randomUUID());
    this.#link?.cut();
  }

  #receive(frame: FromCoordinator): void {
    if (frame.type === "assign") void this.#run(frame);
    if (frame.type === "cancel") {
      const attempt = this.attempts.get(frame.jobId);
      if (attempt?.attempt === frame.attempt) attempt.cancel();
    }
  }

  async #run(assign: Assign): Promise<void> {
    this.#assignedMs = performance.now();
    const attempt = new Attempt(assign, (...frames) => this.send(...frames));
    this.attempts.set(attempt.jobId, attempt);
    await this.options.run(attempt, this);
    if (this.attempts.get(attempt.jobId) !== attempt) return;
    this.attempts.delete(attempt.jobId);
    this.claimedWork.delete(attempt.jobId);
    this.oldFrames.push(...attempt.sent.slice(-3));
    this.oldFrames.splice(0, this.oldFrames.length - 100);
  }
}
