import { within } from "./timing.ts";

/** A Server-Sent Event. `id` and `event` are empty if the event has none. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Parses the text of a stream, in pieces of any size, into events. Source: HTML standard, 9.2.6. */
export class EventParser {
  #line = "";
  #isAfterCr = false;
  #id = "";
  #event = "";
  #data: string[] = [];

  /** Returns the events that `text` completes. An event without its final blank line is incomplete and ignored. */
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    // Skips the LF of a CR LF whose CR ended the last piece.
    let start = this.#isAfterCr && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#isAfterCr = false;
    const breaks = /\r\n|\n|\r/g;
    breaks.lastIndex = start;
    for (let found = breaks.exec(text); found !== null; found = breaks.exec(text)) {
      this.#endLine(this.#line + text.slice(start, found.index), events);
      this.#line = "";
      start = breaks.lastIndex;
      this.#isAfterCr = found[0] === "\r" && start === text.length;
    }
    this.#line += text.slice(start);
    return events;
  }

  #endLine(line: string, events: ServerEvent[]): void {
    if (line === "") {
      if (this.#data.length > 0) events.push({ id: this.#id, event: this.#event, data: this.#data.join("\n") });
      this.#event = "";
      this.#data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
  }
}

/** Reads the events of a body until it ends. @throws {TimeoutError} if nothing, not even a comment, arrives for `idleMs`. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader();
  // Drops the byte order mark, and joins characters that are split between two pieces.
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), idleMs, "Nothing arrived on the stream");
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Closes the connection when the caller leaves early. Cancelling rejects if the body has already failed; that error
    // was reported before.
    void reader.cancel().catch(() => undefined);
  }
}
