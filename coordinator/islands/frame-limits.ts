import type { Clock } from "../../shared/clock.ts";
import { formatBytes, KIB, MIB } from "../../shared/format-bytes.ts";
import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { TokenBucket, type Rate } from "../quotas/token-bucket.ts";

/** Most that an Island may report of itself: hardware, runtimes, cached models, downloads. */
export const MAX_STATE_BYTES = 256 * KIB;
/** Most of a frame about an attempt that brings no output: the longest has a message of 2,000 characters. */
const MAX_REPORT_BYTES = 64 * KIB;
/** Room for a job of `held` in `hello`: two ids, a proof and the names of the fields. */
const HELD_JOB_BYTES = 256;

/** Above these the socket is read more slowly. An honest Island sends some thousand frames of output a second. */
const FRAMES: Rate = { perSecond: 5_000, burst: 20_000 };
const BYTES: Rate = { perSecond: 32 * MIB, burst: 64 * MIB };
/** Above these the session ends. An honest Island sends a heartbeat each interval, and at most two a second when it changes. */
const CONTROL: Rate = { perSecond: 20, burst: 200 };
const CONTROL_BYTES: Rate = { perSecond: MIB, burst: 16 * MIB };
/** Frames about attempts that the Island does not have. A few are in flight when the coordinator gives a job up. */
const STRAYS: Rate = { perSecond: 100, burst: 2_000 };
const CONTROL_PER_HEARTBEAT = 4;

/** An Island sends more than any honest one would. Its session ends, and its token waits at the door. */
export class FloodError extends ProtocolError {}

/** What one session may send. */
export class FrameLimits {
  readonly #frames: TokenBucket;
  readonly #bytes: TokenBucket;
  readonly #control: TokenBucket;
  readonly #controlBytes: TokenBucket;
  readonly #strays: TokenBucket;

  constructor(clock: Pick<Clock, "monotonicMs">, heartbeatMs: number) {
    const bucket = (rate: Rate): TokenBucket => new TokenBucket(clock, rate);
    const perSecond = Math.max(CONTROL.perSecond, (CONTROL_PER_HEARTBEAT * 1_000) / heartbeatMs);
    this.#frames = bucket(FRAMES);
    this.#bytes = bucket(BYTES);
    this.#control = bucket({ ...CONTROL, perSecond });
    this.#controlBytes = bucket(CONTROL_BYTES);
    this.#strays = bucket(STRAYS);
  }

  /** Counts any frame. Returns for how many ms the socket is not to be read; 0 within the rates. */
  count(bytes: number): number {
    return Math.max(this.#frames.take(1), this.#bytes.take(bytes));
  }

  /**
   * Counts what is not about an attempt, by its kind and size, and frames about attempts that the Island does not have (`isStray`).
   * Only output and results may be large.
   * @throws {FloodError}
   */
  admit(frame: FromIsland, bytes: number, isStray: boolean): void {
    if ("jobId" in frame) {
      const bringsOutput = frame.type === "output" || frame.type === "finished";
      if (!bringsOutput && bytes > MAX_REPORT_BYTES) {
        throw new FloodError(`${frame.type}: over ${formatBytes(MAX_REPORT_BYTES)}`);
      }
      if (isStray && this.#strays.take(1) > 0) throw new FloodError(`${frame.type}: too many for jobs of others`);
      return;
    }
    const held = frame.type === "hello" ? frame.held.length : 0;
    if (bytes > MAX_STATE_BYTES + held * HELD_JOB_BYTES) {
      throw new FloodError(`${frame.type}: over ${formatBytes(MAX_STATE_BYTES)}`);
    }
    this.countControl(frame.type, frame.type === "wanted" ? frame.slugs.length : 1);
    if (this.#controlBytes.take(bytes) > 0) throw new FloodError(`${frame.type}: too many bytes`);
  }

  /** Also for WebSocket pings and pongs. @throws {FloodError} */
  countControl(name: string, count = 1): void {
    if (this.#control.take(count) > 0) throw new FloodError(`${name}: too many a second`);
  }
}
