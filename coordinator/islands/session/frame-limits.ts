import { formatBytes, KIB, MIB } from "../../../shared/format-bytes.ts";
import { ProtocolError } from "../../../shared/protocol/codec.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import type { Rate } from "../../quotas/token-bucket.ts";

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

/** The rate of frames that are not about an attempt. */
export function controlRate(heartbeatMs: number): Rate {
  return { ...CONTROL, perSecond: Math.max(CONTROL.perSecond, (CONTROL_PER_HEARTBEAT * 1_000) / heartbeatMs) };
}

/** What one session may send. Times are of the clock that never jumps. */
export class FrameLimits {
  readonly #controlRate: Rate;
  /** Of each rate, as {@link taken} returns it. */
  #framesMs = 0;
  #bytesMs = 0;
  #controlMs = 0;
  #controlBytesMs = 0;
  #straysMs = 0;

  /** @param control from {@link controlRate}, one for all sessions. */
  constructor(control: Rate) {
    this.#controlRate = control;
  }

  /** Counts any frame. Returns for how many ms the socket is not to be read; 0 within the rates. */
  count(bytes: number, nowMs: number): number {
    this.#framesMs = taken(FRAMES, this.#framesMs, nowMs, 1);
    this.#bytesMs = taken(BYTES, this.#bytesMs, nowMs, bytes);
    return Math.max(debtMs(FRAMES, this.#framesMs, nowMs), debtMs(BYTES, this.#bytesMs, nowMs));
  }

  /**
   * Counts what is not about an attempt, by its kind and size, and frames about attempts that the Island does not have (`isStray`).
   * Only output and results may be large.
   * @throws {FloodError}
   */
  admit(frame: FromIsland, bytes: number, isStray: boolean, nowMs: number): void {
    if ("jobId" in frame) {
      const bringsOutput = frame.type === "output" || frame.type === "finished";
      if (!bringsOutput && bytes > MAX_REPORT_BYTES) {
        throw new FloodError(`${frame.type}: over ${formatBytes(MAX_REPORT_BYTES)}`);
      }
      if (!isStray) return;
      this.#straysMs = taken(STRAYS, this.#straysMs, nowMs, 1);
      if (debtMs(STRAYS, this.#straysMs, nowMs) > 0) throw new FloodError(`${frame.type}: too many for jobs of others`);
      return;
    }
    const held = frame.type === "hello" ? frame.held.length : 0;
    if (bytes > MAX_STATE_BYTES + held * HELD_JOB_BYTES) {
      throw new FloodError(`${frame.type}: over ${formatBytes(MAX_STATE_BYTES)}`);
    }
    this.countControl(frame.type, nowMs, frame.type === "wanted" ? frame.slugs.length : 1);
    this.#controlBytesMs = taken(CONTROL_BYTES, this.#controlBytesMs, nowMs, bytes);
    if (debtMs(CONTROL_BYTES, this.#controlBytesMs, nowMs) > 0) throw new FloodError(`${frame.type}: too many bytes`);
  }

  /** Also for WebSocket pings and pongs. @throws {FloodError} */
  countControl(name: string, nowMs: number, count = 1): void {
    this.#controlMs = taken(this.#controlRate, this.#controlMs, nowMs, count);
    if (debtMs(this.#controlRate, this.#controlMs, nowMs) > 0) throw new FloodError(`${name}: too many a second`);
  }
}

/*
 * A token bucket as one number: when it is full again, by a clock that never jumps. 0 is a full one. Source: the generic cell rate
 * algorithm, ITU-T I.371. For what exists 10,000 times, five times each.
 */

/** The bucket after `count` were taken, also when there were less. */
export function taken(rate: Rate, fullAtMs: number, nowMs: number, count: number): number {
  return Math.max(fullAtMs, nowMs) + (count * 1_000) / rate.perSecond;
}

/** Milliseconds until the debt is paid; 0 while no more than the burst is missing. */
export function debtMs(rate: Rate, fullAtMs: number, nowMs: number): number {
  const overMs = fullAtMs - nowMs - (rate.burst * 1_000) / rate.perSecond;
  // What sums of fractions are off by is no debt.
  return overMs > 0.001 ? Math.ceil(overMs) : 0;
}
