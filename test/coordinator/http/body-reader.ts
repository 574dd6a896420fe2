import type { Socket } from "node:net";

/** Comment with which the transport uws starts an event stream without events. */
const FIRST_COMMENT = /^:\n\n/;

/** Reads a response's body in pieces on request. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  text = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("The response has no body");
    this.#reader = response.body.getReader();
  }

  /** Reads until the received text ends with `end`. */
  async until(end: string): Promise<string> {
    while (!this.text.endsWith(end)) {
      const { done, value } = await this.#reader.read();
      if (done) throw new Error(`Ended before ${JSON.stringify(end)}: ${this.text}`);
      this.#add(value);
    }
    return this.text;
  }

  async toEnd(): Promise<string> {
    for (let read = await this.#reader.read(); !read.done; read = await this.#reader.read()) {
      this.#add(read.value);
    }
    return this.text;
  }

  #add(value: Uint8Array): void {
    this.text += this.#decoder.decode(value, { stream: true });
    this.text = this.text.replace(FIRST_COMMENT, "");
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

/** Returns all text that a socket receives until it closes. */
export async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  if (!socket.destroyed) await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(chunks).toString("utf8");
}
