export interface EventText {
  /** Name of the event, or null if it has no name. */
  readonly event: string | null;
  readonly data: string;
}

/** Parses the Server-Sent Events of a coordinator's stream from pieces of any size. */
export class EventTexts {
  readonly #tell: (event: EventText) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(tell: (event: EventText) => void) {
    this.#tell = tell;
  }

  push(bytes: Uint8Array): void {
    const blocks = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      const event = lines.find((line) => line.startsWith("event: "))?.slice(7) ?? null;
      // Comments are not events.
      if (data.length > 0) this.#tell({ event, data: data.join("\n") });
    }
  }
}
