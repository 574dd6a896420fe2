import { formatBytes, KIB, MIB } from "../../../shared/format-bytes.ts";
import { ProtocolError } from "../../../shared/protocol/codec.ts";
import type { SingleFrame } from "../../../shared/protocol/from-island.ts";
import type { Rate } from "../../quotas/token-bucket.ts";

/** Maximum size of an Island's own report: hardware, runtimes, cached models and downloads. */
export const MAX_STATE_BYTES = 256 * KIB;
/**
 * Maximum size of a frame about an attempt without output. The longest frame contains a message of 2,000 characters.
 */
const MAX_REPORT_BYTES = 64 * KIB;
/** Maximum size of a job in `held` of `hello`: two ids, an attempt token and field names. */
const HELD_JOB_BYTES = 256;

/**
 * Rates above which the socket is read more slowly: items of output, which are mostly tokens, other frames, and bytes.
 */
const ITEMS: Rate = { perSecond: 100_000, burst: 200_000 };
const FRAMES: Rate = { perSecond: 5_000, burst: 20_000 };
const BYTES: Rate = { perSecond: 32 * MIB, burst: 64 * MIB };
/** Rates above which the session ends. An honest Island sends its heartbeats, and at most two more a second. */
const CONTROL: Rate = { perSecond: 20, burst: 200 };
const CONTROL_BYTES: Rate = { perSecond: MIB, burst: 16 * MIB };
/**
 * Rate of frames about attempts that the Island does not have, above which the session ends. A few such frames are in
 * flight when the coordinator gives up a job.
 */
const STRAYS: Rate = { perSecond: 100, burst: 2_000 };
const CONTROL_PER_HEARTBEAT = 4;

/** Ends the session of an Island that exceeds a rate or size limit, and starts a cooldown of its token. */
export class FloodError extends ProtocolError {}

/** Returns the allowed rate of frames that are not about an attempt. */
export function controlRate(heartbeatMs: number): Rate {
  return { ...CONTROL, perSecond: Math.max(CONTROL.perSecond, (CONTROL_PER_HEARTBEAT * 1_000) / heartbeatMs) };
}

/** Limits the frames of one session. Times are monotonic. */
export class FrameLimits {
  readonly #controlRate: Rate;
  /** State of each rate, as returned by {@link taken}. */
  #itemsMs = 0;
  #framesMs = 0;
  #bytesMs = 0;
  #controlMs = 0;
  #controlBytesMs = 0;
  #straysMs = 0;

  /** @param control From {@link controlRate}, the same for all sessions. */
  constructor(control: Rate) {
    this.#controlRate = control;
  }

  /** Counts the bytes of a frame. Returns for how many ms the socket must not be read; 0 within the rate. */
  countBytes(bytes: number, nowMs: number): number {
    this.#bytesMs = taken(BYTES, this.#bytesMs, nowMs, bytes);
    return debtMs(BYTES, this.#bytesMs, nowMs);
  }

  /** Counts a frame by its type. Returns for how many ms the socket must not be read; 0 within the rates. */
  count(frame: SingleFrame, nowMs: number): number {
    if (frame.type === "output") {
      this.#itemsMs = taken(ITEMS, this.#itemsMs, nowMs, frame.items.length);
      return debtMs(ITEMS, this.#itemsMs, nowMs);
    }
    this.#framesMs = taken(FRAMES, this.#framesMs, nowMs, 1);
    return debtMs(FRAMES, this.#framesMs, nowMs);
  }

  /**
   * Checks the size of a frame, because only output and results may be large. Counts frames that are not about an
   * attempt, or about one that the Island does not have (`isStray`). @throws {FloodError}
   */
  admit(frame: SingleFrame, bytes: number, isStray: boolean, nowMs: number): void {
    if ("jobId" in frame) {
      const hasOutput = frame.type === "output" || frame.type === "finished";
      if (!hasOutput && bytes > MAX_REPORT_BYTES) {
        throw new FloodError(`${frame.type}: larger than ${formatBytes(MAX_REPORT_BYTES)}`);
      }
      if (!isStray) return;
      this.#straysMs = taken(STRAYS, this.#straysMs, nowMs, 1);
      if (debtMs(STRAYS, this.#straysMs, nowMs) > 0)
        throw new FloodError(`${frame.type}: too many for jobs that this Island does not have`);
      return;
    }
    const held = frame.type === "hello" ? frame.held.length : 0;
    if (bytes > MAX_STATE_BYTES + held * HELD_JOB_BYTES) {
      throw new FloodError(`${frame.type}: larger than ${formatBytes(MAX_STATE_BYTES)}`);
    }
    this.countControl(frame.type, nowMs, frame.type === "wanted" ? frame.slugs.length : 1);
    this.#controlBytesMs = taken(CONTROL_BYTES, this.#controlBytesMs, nowMs, bytes);
    if (debtMs(CONTROL_BYTES, this.#controlBytesMs, nowMs) > 0) throw new FloodError(`${frame.type}: too many bytes`);
  }

  /** Counts a control frame, or a WebSocket ping or pong. @throws {FloodError} */
  countControl(name: string, nowMs: number, count = 1): void {
    this.#controlMs = taken(this.#controlRate, this.#controlMs, nowMs, count);
    if (debtMs(this.#controlRate, this.#controlMs, nowMs) > 0) throw new FloodError(`${name}: too many per second`);
  }
}

/*
 * Token bucket stored as one number: the monotonic time when it is full again. It is compact, because 10,000 sessions have six buckets each. Source: the generic cell rate algorithm, ITU-T I.371.
 */

/** Takes `count` from a bucket, even if it holds less. Returns the time when the bucket is full again. */
export function taken(rate: Rate, fullAtMs: number, nowMs: number, count: number): number {
  return Math.max(fullAtMs, nowMs) + (count * 1_000) / rate.perSecond;
}

/** Returns the milliseconds until the debt is paid; 0 within the burst. */
export function debtMs(rate: Rate, fullAtMs: number, nowMs: number): number {
  const overMs = fullAtMs - nowMs - (rate.burst * 1_000) / rate.perSecond;
  // Ignore rounding errors of sums of fractions.
  return overMs > 0.001 ? Math.ceil(overMs) : 0;
}
