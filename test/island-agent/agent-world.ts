import { expect } from "vitest";
import { type AgentParts, IslandAgent } from "../../island-agent/agent.ts";
import { Availability } from "../../island-agent/availability/availability.ts";
import type { Recommendation } from "../../island-agent/preload/recommendations.ts";
import { CoordinatorAddresses } from "../../island-agent/session/coordinator-addresses.ts";
import type { UsableRuntime } from "../../island-agent/runtimes/runtime-probes.ts";
import type { RuntimeType } from "../../shared/cargo.ts";
import { settle } from "../support/event-log.ts";
import { FakeRuntime } from "../support/models/fake-runtime.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { ALLOWS_ALL, FakeLog, FakeFiles, ISLAND_TOKEN, makeAssign, makeHardware } from "./builders.ts";
import { ScriptedCoordinator, type ScriptedSession } from "./scripted-coordinator.ts";
import { NO_ENGINES } from "./no-engines.ts";

export const HOST_ID = "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01";
/** Keeps the configured order of addresses. */
const IN_ORDER = (): number => 0.999;
/** The wait is half of the first step, because `random` is 0. Source: shared/async/backoff.ts. */
export const FIRST_RETRY_MS = 250;
export const MAX_DRAIN_MS = 60_000;
export const DRAIN_TIMEOUT_MS = 15_000;

/** An agent with a scripted coordinator. Everything else is a fake. */
export class AgentWorld implements AsyncDisposable {
  readonly coordinator: ScriptedCoordinator;
  readonly runtime = new FakeRuntime();
  /** Runtimes that the agent offers. A test may add to them. */
  readonly runtimes = new Map<RuntimeType, UsableRuntime>([["llmcpp", { runtime: this.runtime, version: "fake" }]]);
  readonly files = new FakeFiles();
  readonly clock = new ManualClock();
  readonly log = new FakeLog();
  readonly agent: IslandAgent;
  /** Resolves with the reason when the agent has ended. */
  readonly ended: Promise<string>;
  /** Number of `onConnected` calls. */
  connections = 0;
  /** Recommendations of the coordinator. */
  recommendations: Recommendation[] = [];
  #hasEnded = false;

  private constructor(coordinator: ScriptedCoordinator, otherUrls: readonly string[], options: Partial<AgentParts>) {
    this.coordinator = coordinator;
    const { clock, files, log, runtimes } = this;
    this.agent = new IslandAgent({
      engines: NO_ENGINES,
      coordinators: new CoordinatorAddresses([coordinator.url, ...otherUrls], IN_ORDER),
      token: ISLAND_TOKEN,
      publicKey: coordinator.publicKey,
      signedBy: null,
      policy: () => ALLOWS_ALL,
      accountId: "user_1",
      hostId: HOST_ID,
      version: "0.0.0-test",
      drainTimeoutMs: DRAIN_TIMEOUT_MS,
      clock,
      offer: { slots: 2, hardware: makeHardware() },
      runtimes,
      files,
      availability: new Availability({ clock, hours: null, isPaused: false }),
      recommend: async () => this.recommendations,
      usage: () => ({ cpuLoad: 0.5, freeRamBytes: 1, freeVramBytes: null }),
      freeRamBytes: () => null,
      log,
      onConnected: () => (this.connections += 1),
      random: () => 0,
      ...options,
    });
    this.ended = this.agent.run().finally(() => (this.#hasEnded = true));
  }

  /** Addresses of other coordinators (`otherUrls`), which the agent dials after the first. */
  static async open(options: Partial<AgentParts> = {}, otherUrls: readonly string[] = []): Promise<AgentWorld> {
    return new AgentWorld(await ScriptedCoordinator.open(), otherUrls, options);
  }

  async isEnded(): Promise<boolean> {
    await settle();
    return this.#hasEnded;
  }

  /** Opens the first session with one job whose run does not end. */
  async openWithJob(script: object = {}): Promise<ScriptedSession> {
    const session = await this.coordinator.session(1);
    await session.welcome();
    session.send(makeAssign({ script: { tokens: ["a"], hold: true, ...script } }));
    await session.next("output");
    return session;
  }

  /** Waits until the agent has noticed the `count`th end of a session, then advances the clock to the next attempt. */
  async retry(count: number, waitMs: number): Promise<void> {
    await this.log.sessions.happened("over", count);
    this.clock.advance(waitMs - 1);
    await settle();
    expect(this.agent.status().link).toBe("waiting");
    this.clock.advance(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.agent.stop();
    while (!(await this.isEnded())) this.clock.advance(2_000);
    await stopped;
    await this.coordinator[Symbol.asyncDispose]();
    expect(this.clock.pendingTimers, "timers left").toBe(0);
  }
}
