import { beforeEach, describe, expect, it } from "vitest";
import type { ContainerListener } from "../../../../island-agent/runtimes/container/job-container.ts";
import { WarmPool } from "../../../../island-agent/runtimes/container/warm-pool.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const WINDOW_MS = 60_000;
const SETTLE_MS = 10_000;

class FakeContainer {
  listener: ContainerListener;
  constructor(listener: ContainerListener) {
    this.listener = listener;
  }
  /** The calls of the pool, in order. */
  readonly calls: string[] = [];
  wakeFault: Error | undefined;
  listen(listener: ContainerListener): void {
    this.calls.push("listen");
    this.listener = listener;
  }
  async rest(): Promise<void> {
    this.calls.push("rest");
  }
  async wake(): Promise<void> {
    this.calls.push("wake");
    if (this.wakeFault !== undefined) throw this.wakeFault;
  }
}

const makeListener = (): ContainerListener => ({
  onStdout: () => undefined,
  onStderr: () => undefined,
  onEnd: () => undefined,
});

describe("WarmPool", () => {
  let clock: ManualClock;
  let started: FakeContainer[];
  let discarded: FakeContainer[];
  /** If this is set, starts wait for it. */
  let gate: Promise<void> | undefined;
  let fault: Error | undefined;
  /** The next program writes output immediately. */
  let speaksAtStart: boolean;
  let pool: WarmPool<FakeContainer>;
  beforeEach(() => {
    clock = new ManualClock();
    [started, discarded, gate, fault, speaksAtStart] = [[], [], undefined, undefined, false];
    pool = new WarmPool<FakeContainer>({
      start: async (listener) => {
        await gate;
        if (fault !== undefined) throw fault;
        const container = new FakeContainer(listener);
        started.push(container);
        if (speaksAtStart) listener.onStdout(new Uint8Array());
        speaksAtStart = false;
        return container;
      },
      discard: (container) => void discarded.push(container),
      clock,
      max: 3,
      windowMs: WINDOW_MS,
    });
  });

  const burst = (jobs: number): Promise<FakeContainer[]> =>
    Promise.all(Array.from({ length: jobs }, () => pool.take(makeListener())));

  it("gives a job the waiting container, and starts a new one", async () => {
    await pool.warm();
    const listener = makeListener();
    const container = await pool.take(listener);
    expect(container).toBe(started[0]);
    expect(container.listener).toBe(listener);
    expect(pool.size).toBe(1);
  });

  it("gives each container to only one job", async () => {
    await pool.warm();
    const taken = await Promise.all([1, 2, 3].map(() => pool.take(makeListener())));
    expect(new Set(taken).size).toBe(3);
  });

  it("never exceeds its maximum of containers, including those of jobs", async () => {
    await pool.warm();
    await burst(3);
    expect(pool.size).toBe(0);
    pool.free();
    expect(pool.size).toBe(1);
    expect(started.length).toBeLessThanOrEqual(4);
  });

  it("keeps more containers when jobs find none ready, up to its maximum", async () => {
    await pool.warm();
    await burst(2);
    pool.free();
    pool.free();
    expect(pool.size).toBe(2);
    for (let index = 0; index < 2; index += 1) {
      await burst(3);
      for (let job = 0; job < 3; job += 1) pool.free();
    }
    expect(pool.size).toBe(3);
  });

  it("keeps at most as many as jobs in the last window, and none after a window without jobs", async () => {
    await pool.warm();
    await burst(3);
    for (let job = 0; job < 3; job += 1) pool.free();
    expect(pool.size).toBe(3);
    clock.advance(WINDOW_MS);
    await pool.take(makeListener());
    pool.free();
    expect(pool.size).toBe(3);
    clock.advance(WINDOW_MS);
    expect(pool.size).toBe(1);
    clock.advance(WINDOW_MS);
    expect(pool.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
    await pool.close();
    expect(discarded).toHaveLength(3);
  });

  it("warms up again with the first job after a window without jobs", async () => {
    await pool.warm();
    clock.advance(WINDOW_MS);
    expect(pool.size).toBe(0);
    await pool.take(makeListener());
    expect(pool.size).toBe(1);
  });

  it("replaces a container whose program ended or wrote output before its job", async () => {
    await pool.warm();
    started[0]?.listener.onEnd();
    started[0]?.listener.onEnd();
    const container = await pool.take(makeListener());
    expect(container).toBe(started[1]);
    await pool.close();
    expect(discarded).toContain(started[0]);
  });

  it("keeps a container that writes little to standard error, and discards one that writes more", async () => {
    await pool.warm();
    started[0]?.listener.onStderr(new Uint8Array(65_536));
    expect(discarded).toEqual([]);
    started[0]?.listener.onStderr(new Uint8Array(1));
    await expect.poll(() => discarded).toEqual([started[0]]);
    expect(pool.size).toBe(1);
  });

  it("lowers the CPU limit of a container that waits long, and restores it before its job", async () => {
    await pool.warm();
    clock.advance(SETTLE_MS - 1);
    expect(started[0]?.calls).toEqual([]);
    clock.advance(1);
    expect(started[0]?.calls).toEqual(["rest"]);
    expect(await pool.take(makeListener())).toBe(started[0]);
    expect(started[0]?.calls).toEqual(["rest", "wake", "listen"]);
    const next = await pool.take(makeListener());
    clock.advance(SETTLE_MS);
    expect(next.calls).toEqual(["listen"]);
  });

  it("gives a job a new container if the CPU limit cannot be restored", async () => {
    await pool.warm();
    clock.advance(SETTLE_MS);
    const [resting] = started;
    if (resting !== undefined) resting.wakeFault = new Error("the engine refuses");
    expect(await pool.take(makeListener())).not.toBe(resting);
    expect(discarded).toEqual([resting]);
  });

  it("stops keeping containers whose programs do not wait, and starts one for each job", async () => {
    await pool.warm();
    for (let index = 0; index < 3; index += 1) {
      await expect.poll(() => started.length).toBe(index + 1);
      started[index]?.listener.onStdout(new Uint8Array());
    }
    expect(pool.size).toBe(0);
    const listener = makeListener();
    expect((await pool.take(listener)).listener).toBe(listener);
    pool.free();
    expect(pool.size).toBe(0);
  });

  it("counts only consecutive programs that did not wait", async () => {
    await pool.warm();
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 2; index += 1) {
        const count = started.length;
        started.at(-1)?.listener.onEnd();
        await expect.poll(() => started.length).toBe(count + 1);
      }
      await pool.take(makeListener());
      pool.free();
      await expect.poll(() => pool.size).toBe(1);
    }
  });

  it("gives a job a new container when the starting one writes output too early", async () => {
    speaksAtStart = true;
    const warming = pool.warm();
    const container = await pool.take(makeListener());
    await warming;
    expect(container).not.toBe(started[0]);
    expect(discarded).toEqual([started[0]]);
  });

  it("reports why the first container could not be started, and keeps no timer", async () => {
    fault = new Error("no engine");
    await expect(pool.warm()).rejects.toBe(fault);
    expect(pool.size).toBe(0);
    await pool.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it("ignores a failed replacement until a job starts its own", async () => {
    await pool.warm();
    fault = new Error("no engine");
    await pool.take(makeListener());
    await expect(pool.take(makeListener())).rejects.toBe(fault);
    expect(pool.size).toBeLessThanOrEqual(1);
    fault = undefined;
    await expect(pool.take(makeListener())).resolves.toBeInstanceOf(FakeContainer);
  });

  it("close() discards waiting and starting containers, and starts no more", async () => {
    await pool.warm();
    const hold = Promise.withResolvers<void>();
    gate = hold.promise;
    const taken = await pool.take(makeListener());
    const closing = pool.close();
    hold.resolve();
    await closing;
    pool.free();
    expect(pool.size).toBe(0);
    expect(started).toHaveLength(2);
    expect(discarded).toEqual([started[1]]);
    expect(discarded).not.toContain(taken);
    expect(clock.pendingTimers).toBe(0);
  });
});
