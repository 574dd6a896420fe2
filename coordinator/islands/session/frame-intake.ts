import { KIB } from "../../../shared/format-bytes.ts";

/** What one turn of the event loop takes from all Islands of an account. A single frame may be larger. */
export const MAX_PER_TURN = { frames: 100, bytes: 256 * KIB } as const;

/** A session whose frames are taken in. */
export interface FrameSource {
  /** Frames wait: read the socket no further until {@link onQueueEmpty}. */
  onQueued(): void;
  /** All frames that waited were taken. */
  onQueueEmpty(): void;
  take(data: Buffer): void;
}

interface QueuedFrame {
  readonly source: FrameSource;
  readonly data: Buffer;
}

/**
 * Takes in the frames of all sessions of one account, in the order of their arrival, and no more in one turn of the event loop than
 * {@link MAX_PER_TURN}. The others wait for the next turns, so that the requests of other accounts are answered in between. A socket
 * is not read while one of its frames waits, so at most what one read has delivered (64 KiB) is queued for each session.
 */
export class FrameIntake {
  #queue: QueuedFrame[] = [];
  readonly #waiting = new Map<FrameSource, number>();
  #frames = 0;
  #bytes = 0;
  #isTickScheduled = false;

  /** Gives the frame to `source.take`, in this turn or a later one. */
  push(source: FrameSource, data: Buffer): void {
    this.#scheduleTick();
    if (this.#queue.length === 0 && this.#hasCapacity()) return this.#take({ source, data });
    this.#queue.push({ source, data });
    const waiting = this.#waiting.get(source) ?? 0;
    this.#waiting.set(source, waiting + 1);
    if (waiting === 0) source.onQueued();
  }

  #hasCapacity(): boolean {
    return this.#frames < MAX_PER_TURN.frames && this.#bytes < MAX_PER_TURN.bytes;
  }

  #take({ source, data }: QueuedFrame): void {
    this.#frames += 1;
    this.#bytes += data.length;
    source.take(data);
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
