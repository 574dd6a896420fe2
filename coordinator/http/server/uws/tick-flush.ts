/** A writer with data to write at the end of the event-loop tick. */
interface Flushable {
  flush(): void;
}

/**
 * Flushes writers once per event-loop tick, outside of the library's handlers. Inside the handler of one connection,
 * the library cannot collect the writes to another, and each part would be a system call.
 */
export class TickFlush {
  #waiting: Flushable[] = [];

  add(writer: Flushable): void {
    if (this.#waiting.push(writer) > 1) return;
    setImmediate(() => {
      const writers = this.#waiting;
      this.#waiting = [];
      for (const each of writers) each.flush();
    });
  }
}
