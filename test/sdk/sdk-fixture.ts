import { Atoll, type AtollOptions } from "../../sdk/typescript/src/index.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { FaultyProxy } from "./faulty-proxy.ts";

export const CARGO = "tiny-chat";
const STREAMS = 1_000;
/** The pauses are short, because the tests count attempts. */
export const QUICK = { backoff: { firstMs: 1, mostMs: 5 } } satisfies AtollOptions;

/** A real coordinator, a proxy that injects faults, and an Island whose frames the test sends. */
export class SdkFixture implements AsyncDisposable {
  readonly coordinator: TestCoordinator;
  readonly proxy: FaultyProxy;
  readonly island: FakeIsland;
  readonly apiKey: string;
  readonly accountId: string;

  private constructor(
    coordinator: TestCoordinator,
    proxy: FaultyProxy,
    island: FakeIsland,
    account: { id: string; key: string },
  ) {
    this.coordinator = coordinator;
    this.proxy = proxy;
    this.island = island;
    this.apiKey = account.key;
    this.accountId = account.id;
  }

  static async open(flags: Readonly<Record<string, unknown>> = {}): Promise<SdkFixture> {
    const coordinator = await TestCoordinator.open(flags);
    const account = await coordinator.createAccount("client@example.com", 100_000);
    await coordinator.withStore((store) =>
      store.accounts.setLimits(account.id, {
        requestsPerMinute: 100_000,
        concurrentJobs: 1_000,
        concurrentStreams: STREAMS,
      }),
    );
    const proxy = await FaultyProxy.open(() => coordinator.url);
    const island = await FakeIsland.join(coordinator.url, account.islandToken, { slots: 100 });
    return new SdkFixture(coordinator, proxy, island, account);
  }

  /** Returns a client of the proxy. */
  client(options: AtollOptions = {}): Atoll {
    return new Atoll({ baseUrl: this.proxy.url, apiKey: this.apiKey, ...QUICK, ...options });
  }

  /** Sets the account's stream limit while `act` runs. */
  async withStreams<T>(concurrentStreams: number, act: () => Promise<T>): Promise<T> {
    const set = (count: number) =>
      this.coordinator.withStore((store) => store.accounts.setLimits(this.accountId, { concurrentStreams: count }));
    await set(concurrentStreams);
    try {
      return await act();
    } finally {
      await set(STREAMS);
    }
  }

  /** Submits a job and starts it as the Island. */
  async begin(input: Record<string, unknown> = { prompt: "Hi" }): Promise<Assign> {
    const { id } = await this.client().jobs.submit({ workload: CARGO, input });
    return this.taken(id);
  }

  /** Starts the Island's next assignment. */
  async taken(jobId?: string): Promise<Assign> {
    const assign = await this.island.next("assign", (frame) => jobId === undefined || frame.jobId === jobId);
    const { attempt } = assign;
    this.island.send(
      { type: "accepted", jobId: assign.jobId, attempt },
      { type: "started", jobId: assign.jobId, attempt },
    );
    return assign;
  }

  /** Runs a job that outputs `items` and completes. */
  async completed(...items: OutputItem[]): Promise<string> {
    const assign = await this.begin();
    this.island.send(output(assign, 1, ...items), finished(assign, 2));
    await this.island.next("ack", ({ jobId, seq }) => jobId === assign.jobId && seq === 2);
    return assign.jobId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.island[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
    await this.coordinator[Symbol.asyncDispose]();
  }
}

export const token = (content: string): OutputItem => ({ type: "token", content, count: 1 });

export function output({ jobId, attempt }: Assign, seq: number, ...items: OutputItem[]): FromIsland {
  return { type: "output", jobId, attempt, seq, items };
}

export function finished({ jobId, attempt }: Assign, seq: number): Extract<FromIsland, { type: "finished" }> {
  return {
    type: "finished",
    jobId,
    attempt,
    seq,
    finishReason: "stop",
    usage: { promptTokens: 5, completionTokens: 3 },
    timings: { loadMs: 1, firstOutputMs: 1, runMs: 10 },
  };
}

export function failed({ jobId, attempt }: Assign, seq: number): Extract<FromIsland, { type: "failed" }> {
  return { type: "failed", jobId, attempt, seq, code: "model_invalid", message: "No such thing", retryable: false };
}
