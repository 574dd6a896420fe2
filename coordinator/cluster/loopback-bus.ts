import type { Bus, Unsubscribe } from "../bus/bus.ts";
import { LocalBus } from "../bus/local-bus.ts";

/**
 * A bus on which messages to this coordinator itself stay in the process: a job that comes here is reached as it was before, also while
 * the bus is down. Such subjects have the coordinator's id as a word.
 */
export class LoopbackBus implements Bus {
  readonly #bus: Bus;
  readonly #local = new LocalBus();
  readonly #selfId: string;

  constructor(bus: Bus, selfId: string) {
    this.#bus = bus;
    this.#selfId = selfId;
  }

  get downBecause(): string | null {
    return this.#bus.downBecause;
  }

  onChange(listener: (downBecause: string | null) => void): Unsubscribe {
    return this.#bus.onChange(listener);
  }

  publish(subject: string, message: unknown): void {
    this.#busFor(subject).publish(subject, message);
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    const stops = [this.#bus, this.#local].map((bus) => bus.subscribe(subject, listener));
    return () => stops.forEach((stop) => stop());
  }

  request(subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    return this.#busFor(subject).request(subject, message, timeoutMs);
  }

  answer(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    const stops = [this.#bus, this.#local].map((bus) => bus.answer(subject, handler));
    return () => stops.forEach((stop) => stop());
  }

  /** The bus itself is its opener's. */
  close(): Promise<void> {
    return this.#local.close();
  }

  #busFor(subject: string): Bus {
    return subject.split(".").includes(this.#selfId) ? this.#local : this.#bus;
  }
}
