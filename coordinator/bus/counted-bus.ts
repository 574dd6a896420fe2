import { BusError, type Bus, type Unsubscribe } from "./bus.ts";

/** A bus that counts the requests that failed, by kind. */
export class CountedBus implements Bus {
  readonly failed: Record<BusError["kind"], number> = { unreachable: 0, timeout: 0, refused: 0 };
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  get downBecause(): string | null {
    return this.#bus.downBecause;
  }

  onChange(listener: (downBecause: string | null) => void): Unsubscribe {
    return this.#bus.onChange(listener);
  }

  publish(subject: string, message: unknown): void {
    this.#bus.publish(subject, message);
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    return this.#bus.subscribe(subject, listener);
  }

  async request(subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    try {
      return await this.#bus.request(subject, message, timeoutMs);
    } catch (error) {
      if (error instanceof BusError) this.failed[error.kind] += 1;
      throw error;
    }
  }

  answer(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    return this.#bus.answer(subject, handler);
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}
