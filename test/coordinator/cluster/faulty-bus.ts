import { BusError, type Bus, type Unsubscribe } from "../../../coordinator/bus/bus.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import type { Random } from "../../support/random.ts";

/** What may go wrong; probabilities. */
interface BusFaults {
  /** A message, a request or an answer is lost. */
  readonly lose: number;
  /** A message or a request comes twice. */
  readonly repeat: number;
  /** A message or an answer comes up to 30 ms late, and so after later ones. */
  readonly delay: number;
}

export const NO_FAULTS: BusFaults = { lose: 0, repeat: 0, delay: 0 };

/** One coordinator's connection to a bus that others use too. It loses, repeats and delays what the coordinator sends. */
export class FaultyBus implements Bus {
  faults: BusFaults = NO_FAULTS;
  downBecause: string | null = null;
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
    if (this.downBecause !== null || this.#random.chance(lose)) return;
    const times = this.#random.chance(repeat) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const send = (): void => this.#bus.publish(subject, structuredClone(message));
      if (this.#random.chance(delay)) this.#clock.schedule(this.#random.between(1, 30), send);
      else send();
    }
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    return this.#kept(this.#bus.subscribe(subject, (message) => this.downBecause === null && listener(message)));
  }

  async request(subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    const { lose, repeat, delay } = this.faults;
    if (this.downBecause !== null) throw new BusError("unreachable", "The bus is down");
    const isLost = this.#random.chance(lose);
    if (isLost && this.#random.chance(0.5)) return this.#timeout(subject, timeoutMs);
    const answer = await this.#bus.request(subject, structuredClone(message), timeoutMs);
    if (this.#random.chance(repeat)) {
      await this.#bus.request(subject, structuredClone(message), timeoutMs).catch(() => undefined);
    }
    if (this.#random.chance(delay)) await this.#clock.sleep(this.#random.between(1, 30));
    return isLost ? this.#timeout(subject, timeoutMs) : structuredClone(answer);
  }

  answer(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    return this.#kept(this.#bus.answer(subject, handler));
  }

  /** As when the process is killed. */
  async close(): Promise<void> {
    this.downBecause = "killed";
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
