import type { Clock, Timer } from "../../../shared/clock.ts";
import type { ContainerListener, JobContainer } from "./job-container.ts";

/** What the pool asks of a container. */
export type Warm = Pick<JobContainer, "listen" | "rest" | "wake">;

export interface WarmPoolDeps<C extends Warm> {
  readonly start: (listener: ContainerListener) => Promise<C>;
  /** Takes a container that nobody uses any more. */
  readonly discard: (container: C) => void;
  readonly clock: Clock;
  /** Most containers at once, those of jobs among them. */
  readonly most: number;
  /** How far back demand counts. After so long without a job none is kept. */
  readonly windowMs: number;
}

/** A container that is started and waits, or is being started. */
interface Entry<C> {
  /** Null: it could not be started. */
  readonly container: Promise<C | null>;
  isReady: boolean;
  /** Its program did not wait: it ended, or spoke before it was asked. */
  isSpoilt: boolean;
  /** What it has written on standard error. */
  stderrBytes: number;
  /** Until it rests; null before it waits. */
  settling: Timer | null;
  /** It has been put to rest, or is about to be; never rejects. */
  resting: Promise<void> | null;
}

/** In which a program gets ready, with all the processor time of a job; after it, it rests until its job comes. */
const SETTLE_MS = 10_000;

/** What a program may write on standard error before it is asked: a greeting, warnings. Reading more costs the owner time. */
const MOST_IDLE_STDERR_BYTES = 65_536;

/** After so many in a row that did not wait for their job, none is kept ready any more: the program takes no input. */
const MOST_SPOILT = 3;

/**
 * Containers whose program was started and waits for its input, so that a job need not wait for a start. Each is for one job
 * and is replaced at once, where `most` allows it. A job that finds none ready adds one; at the end of each window no more
 * are kept than jobs came in it.
 */
export class WarmPool<C extends Warm> {
  readonly #deps: WarmPoolDeps<C>;
  /** Oldest first. */
  readonly #waiting = new Set<Entry<C>>();
  /** Containers that are discarded as soon as they have started; they never reject. */
  readonly #leaving = new Set<Promise<void>>();
  #wanted = 1;
  /** Jobs that have taken one, or are about to. */
  #busy = 0;
  /** Jobs of this window. */
  #taken = 0;
  #spoilt = 0;
  #window: Timer | null = null;
  #isClosed = false;

  constructor(deps: WarmPoolDeps<C>) {
    this.#deps = deps;
  }

  /** Containers that wait, or are being started to. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when the first container waits. @throws as `start` does. */
  async warm(): Promise<void> {
    this.#openWindow();
    await this.#add();
  }

  /**
   * One that waits, else a new one; its output goes to `listener`. To be followed by `free`, also when it throws.
   * @throws as `start` does.
   */
  async take(listener: ContainerListener): Promise<C> {
    this.#taken += 1;
    this.#busy += 1;
    this.#openWindow();
    const [entry] = this.#waiting;
    if (entry?.isReady !== true) this.#wanted = Math.min(this.#wanted + 1, this.#deps.most);
    if (entry === undefined) {
      const started = this.#deps.start(listener);
      this.#fill();
      return started;
    }
    this.#leave(entry);
    this.#fill();
    const container = await entry.container;
    const isAwake = container !== null && (await wake(container, entry));
    if (isAwake && !entry.isSpoilt) {
      this.#spoilt = 0;
      container.listen(listener);
      return container;
    }
    if (container !== null) this.#deps.discard(container);
    return this.#deps.start(listener);
  }

  /** A job's container is used no more. */
  free(): void {
    this.#busy -= 1;
    this.#fill();
  }

  /** Gives up those that wait and starts no more; resolves when all of them were discarded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#window?.cancel();
    this.#shrink(0);
    await Promise.all(this.#leaving);
  }

  #fill(): void {
    if (this.#isClosed || this.#spoilt >= MOST_SPOILT) return;
    while (this.#waiting.size < Math.min(this.#wanted, this.#deps.most - this.#busy)) {
      // A failure is left to the job that starts its own and sees it.
      this.#add().catch(() => undefined);
    }
  }

  /** @throws as `start` does. */
  async #add(): Promise<void> {
    const spoil = (): void => this.#spoil(entry);
    const onStderr = (bytes: Uint8Array): void => {
      entry.stderrBytes += bytes.length;
      if (entry.stderrBytes > MOST_IDLE_STDERR_BYTES) spoil();
    };
    const starting = this.#deps.start({ onStdout: spoil, onStderr, onEnd: spoil });
    const container = starting.catch(() => null);
    const entry: Entry<C> = {
      container,
      isReady: false,
      isSpoilt: false,
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

  #spoil(entry: Entry<C>): void {
    entry.isSpoilt = true;
    // Known already; or taken out by a job or `close`, which discards it.
    if (!this.#leave(entry)) return;
    this.#spoilt += 1;
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

  #shrink(most: number): void {
    for (const entry of [...this.#waiting].slice(most)) {
      this.#leave(entry);
      this.#discard(entry);
    }
  }

  /** False when it did not wait any more. */
  #leave(entry: Entry<C>): boolean {
    entry.settling?.cancel();
    return this.#waiting.delete(entry);
  }

  #discard(entry: Entry<C>): void {
    const leaving = Promise.all([entry.container, entry.resting]).then(([container]) => {
      if (container !== null) this.#deps.discard(container);
    });
    this.#leaving.add(leaving);
    void leaving.finally(() => this.#leaving.delete(leaving));
  }
}

/** False when it could not be given back its processor time. */
async function wake(container: Warm, { resting }: Entry<unknown>): Promise<boolean> {
  if (resting === null) return true;
  await resting;
  return container.wake().then(
    () => true,
    () => false,
  );
}
