import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { IslandAgent } from "../../island-agent/agent.ts";
import { Availability } from "../../island-agent/availability/availability.ts";
import { readCoordinatorKey } from "../../island-agent/session/check-token.ts";
import { CoordinatorAddresses } from "../../island-agent/session/coordinator-addresses.ts";
import { systemClock } from "../../shared/clock.ts";
import { ALLOWS_ALL, FakeFiles, makeHardware } from "../island-agent/builders.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { until } from "../support/http/http.ts";
import { WordRuntime } from "./word-runtime.ts";
import { NO_ENGINES } from "../island-agent/no-engines.ts";

export interface WordIslandOptions {
  /** Addresses in the order in which the Island dials them. */
  readonly urls: readonly string[];
  readonly owner: NewAccount;
  readonly slots?: number;
}

/** A real agent in this process with a {@link WordRuntime}. */
export class WordIsland implements AsyncDisposable {
  readonly agent: IslandAgent;
  readonly runtime: WordRuntime;
  /** Resolves with the reason when the agent has ended. */
  readonly ended: Promise<string>;

  private constructor(agent: IslandAgent, runtime: WordRuntime) {
    this.agent = agent;
    this.runtime = runtime;
    this.ended = agent.run();
  }

  /** Resolves when the Island is connected. */
  static async open({ urls, owner, slots = 4 }: WordIslandOptions): Promise<WordIsland> {
    const shown = await readCoordinatorKey(urls[0] ?? "");
    if (!shown.ok) throw new Error(shown.reason);
    const runtime = new WordRuntime();
    const identity = { token: owner.islandToken, accountId: owner.id, hostId: randomUUID(), version: "0.0.0-test" };
    const trust = { publicKey: shown.publicKey, signedBy: null, policy: () => ALLOWS_ALL };
    // With 0.999, addresses keep the order of the list.
    const coordinators = new CoordinatorAddresses(urls, () => 0.999);
    const agent = new IslandAgent({
      engines: NO_ENGINES,
      ...identity,
      ...trust,
      coordinators,
      drainTimeoutMs: 5_000,
      clock: systemClock,
      offer: { slots, hardware: makeHardware() },
      runtimes: new Map([["llmcpp", { runtime, version: "words" }]]),
      files: new FakeFiles(),
      availability: new Availability({ clock: systemClock, hours: null, isPaused: false }),
      recommend: null,
      usage: () => ({ cpuLoad: 0.1, freeRamBytes: 2 ** 33, freeVramBytes: null }),
      freeRamBytes: () => null,
      log: pino({ level: "silent" }),
      onConnected: () => undefined,
    });
    const island = new WordIsland(agent, runtime);
    await island.untilAt();
    return island;
  }

  get url(): string {
    return this.agent.status().coordinatorUrl;
  }

  /** Resolves when the Island is connected, to `url` if it is given. */
  async untilAt(url?: string): Promise<void> {
    const status = async () => this.agent.status();
    await until(
      status,
      ({ link, coordinatorUrl }) => link === "connected" && (url === undefined || coordinatorUrl === url),
      `an Island at ${url ?? "a coordinator"}`,
    );
  }

  /** Waits until the Island is connected to another coordinator than `url`. Returns the elapsed milliseconds. */
  async untilAwayFrom(url: string): Promise<number> {
    const beganMs = performance.now();
    const status = async () => this.agent.status();
    await until(
      status,
      ({ link, coordinatorUrl }) => link === "connected" && coordinatorUrl !== url,
      "an Island at another coordinator",
    );
    return performance.now() - beganMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent.stop();
    await this.ended;
  }
}
