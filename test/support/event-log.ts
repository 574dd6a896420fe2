/** A log of events in order. Tests wait for an event instead of a time. */
export class EventLog {
  readonly all: string[] = [];
  readonly #wakers = new Set<() => void>();

  add(event: string): void {
    this.all.push(event);
    for (const wake of this.#wakers) wake();
  }

  /** Resolves when `event` has happened `times` times, or at once if it already has. */
  async happened(event: string, times = 1): Promise<void> {
    while (this.count(event) < times) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#wakers.delete(wake);
          resolve();
        };
        this.#wakers.add(wake);
      });
    }
  }

  count(event: string): number {
    return this.all.filter((each) => each === event).length;
  }
}

/** Waits until pending promises and tasks of the next event loop tick have run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
