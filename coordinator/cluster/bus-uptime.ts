import type { Clock } from "../../shared/clock.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";

/** Whether other coordinators could be heard all the time: of what was not heard meanwhile, nothing follows. */
export class BusUptime {
  readonly #bus: Pick<Bus, "downBecause">;
  readonly #unsubscribe: Unsubscribe;
  #upSinceMs = -Infinity;

  constructor(bus: Pick<Bus, "downBecause" | "onChange">, clock: Pick<Clock, "monotonicMs">) {
    this.#bus = bus;
    this.#unsubscribe = bus.onChange(() => (this.#upSinceMs = clock.monotonicMs()));
  }

  /** @param sinceMs by the monotonic clock. */
  hasBeenUpSince(sinceMs: number): boolean {
    return this.#bus.downBecause === null && this.#upSinceMs <= sinceMs;
  }

  close(): void {
    this.#unsubscribe();
  }
}
