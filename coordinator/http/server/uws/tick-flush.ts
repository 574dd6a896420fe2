/** Who has something to write at the end of the turn. */
interface Flushable {
  flush(): void;
}

/**
 * Writes once in a turn of the event loop, outside of every handler of the library: inside the handler of one connection it cannot
 * collect the writes to another, and each part of them would be a system call.
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
