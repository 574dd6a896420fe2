import type { Clock, Timer } from "../../shared/clock.ts";
import { describeOpenHours, isOpenAt, minutesToNextChange, type OpenHours } from "./open-hours.ts";

const MS_PER_MINUTE = 60_000;
/** Maximum wait before the hours are checked again: the wall clock may be set, and daylight saving time changes it. */
const MAX_CHECK_WAIT_MS = 15 * MS_PER_MINUTE;

/**
 * Decides whether this Island accepts new jobs. It accepts none while its owner has paused it, outside its open hours,
 * and while it drains. Running jobs always finish.
 */
export class Availability implements Disposable {
  /** Called when the Island opens or closes for new jobs. */
  onChange: () => void = () => undefined;
  readonly #clock: Clock;
  #hours: OpenHours | null;
  #isPaused: boolean;
  #isDraining = false;
  #wasOpen: boolean;
  #nextCheck: Timer | null = null;

  constructor({
    clock,
    hours,
    isPaused,
  }: {
    readonly clock: Clock;
    /** Null for day and night. */
    readonly hours: OpenHours | null;
    readonly isPaused: boolean;
  }) {
    this.#clock = clock;
    this.#hours = hours;
    this.#isPaused = isPaused;
    this.#wasOpen = this.closedBecause === null;
    this.#scheduleCheck();
  }

  /** Short reason why no new jobs are accepted; null while new jobs are accepted. */
  get closedBecause(): string | null {
    if (this.#isDraining) return "draining";
    if (this.#isPaused) return "paused";
    if (this.#hours === null || isOpenAt(this.#hours, this.#clock.now())) return null;
    return `outside its hours (${describeOpenHours(this.#hours)})`;
  }

  get isOpen(): boolean {
    return this.closedBecause === null;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Open hours as in the settings; null for day and night. */
  get hours(): string | null {
    return this.#hours === null ? null : describeOpenHours(this.#hours);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** @param hours null for day and night. */
  setHours(hours: OpenHours | null): void {
    this.#hours = hours;
    this.#nextCheck?.cancel();
    this.#scheduleCheck();
    this.#notify();
  }

  pause(): void {
    this.#isPaused = true;
    this.#notify();
  }

  resume(): void {
    this.#isPaused = false;
    this.#notify();
  }

  /** Stops accepting new jobs, because the Island is about to leave. */
  drain(): void {
    this.#isDraining = true;
    this.#notify();
  }

  [Symbol.dispose](): void {
    this.#nextCheck?.cancel();
    this.#nextCheck = null;
  }

  #notify(): void {
    if (this.isOpen === this.#wasOpen) return;
    this.#wasOpen = this.isOpen;
    this.onChange();
  }

  #scheduleCheck(): void {
    this.#nextCheck = null;
    if (this.#hours === null) return;
    const now = this.#clock.now();
    const toChangeMs = minutesToNextChange(this.#hours, now) * MS_PER_MINUTE - (now % MS_PER_MINUTE);
    this.#nextCheck = this.#clock.schedule(Math.min(toChangeMs, MAX_CHECK_WAIT_MS), () => {
      this.#scheduleCheck();
      this.#notify();
    });
  }
}
