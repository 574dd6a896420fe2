import { once } from "node:events";
import { WebSocket } from "ws";
import type { Program } from "./program.ts";

/** Environment of a program that a test inspects. */
export const INSPECTED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/** Evaluates code in the main thread of another process through Node.js' inspector protocol, one call at a time. */
export class Inspector implements AsyncDisposable {
  readonly #socket: WebSocket;
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Opens the inspector of `program`, which must have been started with {@link INSPECTED}. */
  static async open(program: Program): Promise<Inspector> {
    const address = /^Debugger listening on (ws:\S+)$/m.exec(program.stderr)?.[1];
    if (address === undefined) throw new Error(`The program has no inspector: ${program.stderr}`);
    const socket = new WebSocket(address, { maxPayload: 0 });
    await once(socket, "open");
    return new Inspector(socket);
  }

  async call<T>(method: string, params: object = {}): Promise<T> {
    const id = (this.#lastId += 1);
    this.#socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [data] = (await once(this.#socket, "message")) as [Buffer];
      const reply = JSON.parse(data.toString()) as { id?: number; result?: T; error?: { message: string } };
      // Messages without an id are events.
      if (reply.id !== id) continue;
      if (reply.result === undefined) throw new Error(`${method}: ${reply.error?.message}`);
      return reply.result;
    }
  }

  /** Returns the text that `code` evaluates to. Later calls may declare the same names again. */
  async evaluate(code: string): Promise<string> {
    const { result, exceptionDetails } = await this.call<{
      result: { value: string };
      exceptionDetails?: { exception: { description: string } };
    }>("Runtime.evaluate", { expression: `{ ${code} }` });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception.description);
    return result.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#socket, "close");
    this.#socket.close();
    await closed;
  }
}
