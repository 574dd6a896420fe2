import { KIB } from "../../../shared/format-bytes.ts";

/** Limits the frames that are processed per event loop tick for one account. A single frame may be larger. */
export const MAX_PER_TICK = { frames: 100, bytes: 256 * KIB } as const;

export interface FrameSource {
  /** Called when frames are queued. The source must stop reading its socket until {@link onQueueEmpty}. */
  onQueued(): void;
  onQueueEmpty(): void;
  /** Processes a frame. Returns how many it counts as: joined outputs count separately. */
  take(data: Buffer): number;
}

interface QueuedFrame {
  readonly source: FrameSource;
  readonly data: Buffer;
}

/**
 * Processes the frames of all sessions of an account in order of arrival, limited to {@link MAX_PER_TICK}, so that
 * requests of other accounts are served in between. A socket is not read while one of its frames is queued, so each
 * session queues at most one read (64 KiB).
 */
export class FrameIntake {
  #queue: QueuedFrame[] = [];
  readonly #waiting = new Map<FrameSource, number>();
  #frames = 0;
  #bytes = 0;
  #isTickScheduled = false;

  /** Passes the frame to `source.take`, in this tick or a later one. */
  push(source: FrameSource, data: Buffer): void {
    this.#scheduleTick();
    if (this.#queue.length === 0 && this.#hasCapacity()) return this.#take({ source, data });
    this.#queue.push({ source, data });
    const waiting = this.#waiting.get(source) ?? 0;
    this.#waiting.set(source, waiting + 1);
    if (waiting === 0) source.onQueued();
  }

  #hasCapacity(): boolean {
    return this.#frames < MAX_PER_TICK.frames && this.#bytes < MAX_PER_TICK.bytes;
  }

  #take({ source, data }: QueuedFrame): void {
    this.#bytes += data.length;
    this.#frames += source.take(data);
  }

  #scheduleTick(): void {
    if (this.#isTickScheduled) return;
    this.#isTickScheduled = true;
    setImmediate(() => this.#beginTick());
  }

  #beginTick(): void {
    this.#isTickScheduled = false;
    this.#frames = 0;
    this.#bytes = 0;
    if (this.#queue.length === 0) return;
    this.#scheduleTick();
    let taken = 0;
    for (const frame of this.#queue) {
      if (!this.#hasCapacity()) break;
      taken += 1;
      this.#take(frame);
      this.#settle(frame.source);
    }
    this.#queue = this.#queue.slice(taken);
  }

  #settle(source: FrameSource): void {
    const waiting = (this.#waiting.get(source) ?? 1) - 1;
    if (waiting > 0) this.#waiting.set(source, waiting);
    else {
      this.#waiting.delete(source);
      source.onQueueEmpty();
    }
  }
}
