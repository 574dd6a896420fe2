import type { Clock, Timer } from "../../shared/clock.ts";
import { describeOpenHours, isOpenAt, minutesToNextChange, type OpenHours } from "./open-hours.ts";

export interface AvailabilityOptions {
  readonly clock: Clock;
  /** Null: day and night. */
  readonly hours: OpenHours | null;
  readonly isPaused: boolean;
}

const MS_PER_MINUTE = 60_000;
/** The wall clock may be set, and summer time begins and ends: it is looked at this often at least. */
const MAX_LOOK_MS = 15 * MS_PER_MINUTE;

/** Whether this Island takes new jobs: its owner's pause, the hours of the day, and the way out. What runs is finished in any case. */
export class Availability implements Disposable {
  /** Called when it opens or closes. */
  onChange: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #hours: OpenHours | null;
  #isPaused: boolean;
  #isDraining = false;
  #wasOpen: boolean;
  #look: Timer | null = null;

  constructor({ clock, hours, isPaused }: AvailabilityOptions) {
    this.#clock = clock;
    this.#hours = hours;
    this.#isPaused = isPaused;
    this.#wasOpen = this.closedBecause === null;
    this.#lookAgain();
  }

  /** In a few words; null while it takes jobs. */
  get closedBecause(): string | null {
    if (this.#isDraining) return "draining";
    if (this.#isPaused) return "paused";
    if (this.#hours === null || isOpenAt(this.#hours, this.#clock.now())) return null;
    return `outside its hours (${describeOpenHours(this.#hours)})`;
  }

  get isOpen(): boolean {
    return this.closedBecause === null;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  pause(): void {
    this.#isPaused = true;
    this.#tell();
  }

  resume(): void {
    this.#isPaused = false;
    this.#tell();
  }

  /** For good: the Island is about to leave. */
  drain(): void {
    this.#isDraining = true;
    this.#tell();
  }

  [Symbol.dispose](): void {
    this.#look?.cancel();
    this.#look = null;
  }

  #tell(): void {
    if (this.isOpen === this.#wasOpen) return;
    this.#wasOpen = this.isOpen;
    this.onChange();
  }

  #lookAgain(): void {
    if (this.#hours === null) return;
    const now = this.#clock.now();
    const toChangeMs = minutesToNextChange(this.#hours, now) * MS_PER_MINUTE - (now % MS_PER_MINUTE);
    this.#look = this.#clock.schedule(Math.min(toChangeMs, MAX_LOOK_MS), () => {
      this.#lookAgain();
      this.#tell();
    });
  }
}
