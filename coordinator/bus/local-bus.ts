import { BusError, type Bus, type Unsubscribe } from "./bus.ts";

/** An in-process bus for a single coordinator, which receives only its own messages. */
export class LocalBus implements Bus {
  readonly downReason = null;
  readonly #listeners = new Map<string, Set<(message: unknown) => void>>();
  readonly #handlers = new Map<string, (message: unknown) => Promise<unknown>>();

  onChange(): Unsubscribe {
    return () => undefined;
  }

  publish(subject: string, message: unknown): void {
    // Deliver asynchronously, as a network bus does.
    queueMicrotask(() => {
      for (const listener of this.#listeners.get(subject) ?? []) listener(message);
    });
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(subject);
    };
  }

  async request(subject: string, message: unknown): Promise<unknown> {
    const handler = this.#handlers.get(subject);
    if (handler === undefined) throw new BusError("unreachable", `No responder for ${subject}`);
    try {
      return await handler(message);
    } catch (error) {
      throw new BusError("refused", error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  handle(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    this.#handlers.set(subject, handler);
    return () => void this.#handlers.delete(subject);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#handlers.clear();
  }
}
