import type { Clock, Timer } from "../../../shared/clock.ts";
import type { ContainerListener, JobContainer } from "./job-container.ts";

/** Methods of a container that the pool uses. */
type WarmContainer = Pick<JobContainer, "listen" | "rest" | "wake">;

interface WarmPoolDeps<C extends WarmContainer> {
  readonly start: (listener: ContainerListener) => Promise<C>;
  /** Removes a container that is no longer needed. */
  readonly discard: (container: C) => void;
  readonly clock: Clock;
  /** Maximum number of containers, including those of jobs. */
  readonly max: number;
  /** Window in which demand is counted. After one window without a job no container is kept. */
  readonly windowMs: number;
}

/** A container that waits, or is being started. */
interface PoolEntry<C> {
  readonly container: Promise<C | null>;
  isReady: boolean;
  /** Whether the program ended or wrote output before it got a job. */
  isBroken: boolean;
  /** Bytes written to standard error so far. */
  stderrBytes: number;
  /** Timer until the CPU limit is lowered; null before the container waits. */
  settling: Timer | null;
  /** The call that lowers the CPU limit; never rejects. */
  resting: Promise<void> | null;
}

/** Time in which a program starts up at a job's full CPU limit. Then the limit is lowered until its job arrives. */
const SETTLE_MS = 10_000;

/** Limit of standard error before a job, for a greeting or warnings. Reading more costs the owner CPU time. */
const MAX_IDLE_STDERR_BYTES = 65_536;

/** After this many consecutive containers that did not read their input, none is kept warm. */
const MAX_CONSECUTIVE_BROKEN = 3;

/**
 * Keeps containers started, with their programs waiting for input, so that jobs do not wait for a start. Each container
 * serves one job and is replaced immediately if `max` allows it. A job that finds no ready container raises the target
 * by one. At the end of each window the target falls to the number of jobs in it.
 */
export class WarmPool<C extends WarmContainer> {
  readonly #deps: WarmPoolDeps<C>;
  /** Waiting containers, oldest first. */
  readonly #waiting = new Set<PoolEntry<C>>();
  /** Containers to be discarded once they have started; they never reject. */
  readonly #leaving = new Set<Promise<void>>();
  #wanted = 1;
  /** Number of jobs with a container, including those that are about to get one. */
  #busy = 0;
  /** Number of jobs in this window. */
  #taken = 0;
  #broken = 0;
  #window: Timer | null = null;
  #isClosed = false;

  constructor(deps: WarmPoolDeps<C>) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when the first container waits. @throws errors of `start`. */
  async warm(): Promise<void> {
    this.#openWindow();
    await this.#add();
  }

  /**
   * Returns a waiting container, otherwise a new one; its output goes to `listener`. Call `free` afterwards, even if
   * this throws.
   * @throws errors of `start`.
   */
  async take(listener: ContainerListener): Promise<C> {
    this.#taken += 1;
    this.#busy += 1;
    this.#openWindow();
    const [entry] = this.#waiting;
    if (entry?.isReady !== true) this.#wanted = Math.min(this.#wanted + 1, this.#deps.max);
    if (entry === undefined) {
      const started = this.#deps.start(listener);
      this.#fill();
      return started;
    }
    this.#leave(entry);
    this.#fill();
    const container = await entry.container;
    const isAwake = container !== null && (await wake(container, entry));
    if (isAwake && !entry.isBroken) {
      this.#broken = 0;
      container.listen(listener);
      return container;
    }
    if (container !== null) this.#deps.discard(container);
    return this.#deps.start(listener);
  }

  free(): void {
    this.#busy -= 1;
    this.#fill();
  }

  /** Discards the waiting containers and starts no more; resolves when all are discarded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#window?.cancel();
    this.#shrink(0);
    await Promise.all(this.#leaving);
  }

  #fill(): void {
    if (this.#isClosed || this.#broken >= MAX_CONSECUTIVE_BROKEN) return;
    while (this.#waiting.size < Math.min(this.#wanted, this.#deps.max - this.#busy)) {
      // Errors are ignored here: the next job starts its own container and gets them.
      this.#add().catch(() => undefined);
    }
  }

  /** @throws errors of `start`. */
  async #add(): Promise<void> {
    const markBroken = (): void => this.#markBroken(entry);
    const onStderr = (bytes: Uint8Array): void => {
      entry.stderrBytes += bytes.length;
      if (entry.stderrBytes > MAX_IDLE_STDERR_BYTES) markBroken();
    };
    const starting = this.#deps.start({ onStdout: markBroken, onStderr, onEnd: markBroken });
    const container = starting.catch(() => null);
    const entry: PoolEntry<C> = {
      container,
      isReady: false,
      isBroken: false,
      stderrBytes: 0,
      settling: null,
      resting: null,
    };
    this.#waiting.add(entry);
    try {
      const started = await starting;
      entry.isReady = true;
      if (!this.#waiting.has(entry)) return;
      entry.settling = this.#deps.clock.schedule(SETTLE_MS, () => {
        entry.resting = started.rest();
      });
    } catch (error) {
      this.#leave(entry);
      throw error;
    }
  }

  #markBroken(entry: PoolEntry<C>): void {
    entry.isBroken = true;
    // The entry has been handled already, or was taken by a job or by `close`, which discards it.
    if (!this.#leave(entry)) return;
    this.#broken += 1;
    this.#discard(entry);
    this.#fill();
  }

  #openWindow(): void {
    if (this.#isClosed) return;
    this.#window ??= this.#deps.clock.schedule(this.#deps.windowMs, () => {
      this.#window = null;
      this.#wanted = Math.min(this.#wanted, this.#taken);
      this.#taken = 0;
      this.#shrink(this.#wanted);
      if (this.#wanted > 0) this.#openWindow();
    });
  }

  #shrink(size: number): void {
    for (const entry of [...this.#waiting].slice(size)) {
      this.#leave(entry);
      this.#discard(entry);
    }
  }

  /** Returns false when the entry was no longer waiting. */
  #leave(entry: PoolEntry<C>): boolean {
    entry.settling?.cancel();
    return this.#waiting.delete(entry);
  }

  #discard(entry: PoolEntry<C>): void {
    const leaving = Promise.all([entry.container, entry.resting]).then(([container]) => {
      if (container !== null) this.#deps.discard(container);
    });
    this.#leaving.add(leaving);
    void leaving.finally(() => this.#leaving.delete(leaving));
  }
}

/** Returns false when the CPU limit could not be restored. */
async function wake(container: WarmContainer, { resting }: PoolEntry<unknown>): Promise<boolean> {
  if (resting === null) return true;
  await resting;
  return container.wake().then(
    () => true,
    () => false,
  );
}
