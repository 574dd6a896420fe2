import { BusError, type Bus, type Unsubscribe } from "../../../coordinator/bus/bus.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import type { Random } from "../../support/random.ts";

/** Probabilities of faults. */
interface BusFaults {
  /** Loses a message, a request or a reply. */
  readonly lose: number;
  /** Delivers a message or a request twice. */
  readonly repeat: number;
  /** Delays a message or a reply by up to 30 ms, so that it may arrive after later ones. */
  readonly delay: number;
}

export const NO_FAULTS: BusFaults = { lose: 0, repeat: 0, delay: 0 };

/**
 * Connection of one coordinator to a shared bus. It loses, repeats and delays the messages that the coordinator sends.
 */
export class FaultyBus implements Bus {
  faults: BusFaults = NO_FAULTS;
  downReason: string | null = null;
  readonly #bus: Bus;
  readonly #clock: ManualClock;
  readonly #random: Random;
  readonly #stops: Unsubscribe[] = [];

  constructor(bus: Bus, clock: ManualClock, random: Random) {
    this.#bus = bus;
    this.#clock = clock;
    this.#random = random;
  }

  onChange(): Unsubscribe {
    return () => undefined;
  }

  publish(subject: string, message: unknown): void {
    const { lose, repeat, delay } = this.faults;
    if (this.downReason !== null || this.#random.chance(lose)) return;
    const times = this.#random.chance(repeat) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const send = (): void => this.#bus.publish(subject, structuredClone(message));
      if (this.#random.chance(delay)) this.#clock.schedule(this.#random.between(1, 30), send);
      else send();
    }
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    return this.#kept(this.#bus.subscribe(subject, (message) => this.downReason === null && listener(message)));
  }

  async request(subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    const { lose, repeat, delay } = this.faults;
    if (this.downReason !== null) throw new BusError("unreachable", "The bus is down");
    const isLost = this.#random.chance(lose);
    if (isLost && this.#random.chance(0.5)) return this.#timeout(subject, timeoutMs);
    const answer = await this.#bus.request(subject, structuredClone(message), timeoutMs);
    if (this.#random.chance(repeat)) {
      await this.#bus.request(subject, structuredClone(message), timeoutMs).catch(() => undefined);
    }
    if (this.#random.chance(delay)) await this.#clock.sleep(this.#random.between(1, 30));
    return isLost ? this.#timeout(subject, timeoutMs) : structuredClone(answer);
  }

  handle(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    return this.#kept(this.#bus.handle(subject, handler));
  }

  /** Acts as if the process were killed. */
  async close(): Promise<void> {
    this.downReason = "killed";
    for (const stop of this.#stops) stop();
  }

  #kept(stop: Unsubscribe): Unsubscribe {
    this.#stops.push(stop);
    return stop;
  }

  async #timeout(subject: string, ms: number): Promise<never> {
    await this.#clock.sleep(ms);
    throw new BusError("timeout", `${subject} was not answered`);
  }
}
