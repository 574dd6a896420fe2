/** Flushes waiting writers once per event-loop tick, outside the library's handlers; see README.md. */
export class TickFlush {
  #waiting: { flush(): void }[] = [];

  add(writer: { flush(): void }): void {
    if (this.#waiting.push(writer) > 1) return;
    setImmediate(() => {
      const writers = this.#waiting;
      this.#waiting = [];
      for (const each of writers) each.flush();
    });
  }
}
