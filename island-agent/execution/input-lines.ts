import { MAX_WAITING_BYTES, MAX_WAITING_LINES } from "../../shared/job-input.ts";
import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { InputFrame } from "../../shared/protocol/from-coordinator.ts";
import type { HeldInput } from "../../shared/protocol/from-island.ts";
import type { InputSource } from "../runtimes/runtime.ts";

type Line = Pick<InputFrame, "seq" | "line">;

/** The lines that a running job is sent, from the coordinator's frames to the job's program. */
export class InputLines implements InputSource {
  /** Those that the program was not given yet, oldest first. */
  readonly #waiting: Line[] = [];
  readonly #onTaken: (seq: number) => void;
  #waitingChars = 0;
  #received = 0;
  #taken = 0;
  #hasEnd = false;
  /** Resolves when a line comes. */
  #arrival = Promise.withResolvers<void>();

  /** @param onTaken told when the program was given a line, which frees room for others. */
  constructor(onTaken: (seq: number) => void) {
    this.#onTaken = onTaken;
  }

  /** For `held` in `hello`: the coordinator sends what is after `received`. */
  get held(): HeldInput {
    return { received: this.#received, taken: this.#taken, hasEnd: this.#hasEnd };
  }

  /**
   * Takes a frame. One that came before is ignored.
   * @throws {ProtocolError} for one that does not follow the last, and for more than an honest coordinator sends.
   */
  push({ seq, line }: Line): void {
    if (seq <= this.#received) return;
    if (seq !== this.#received + 1 || this.#hasEnd) throw new ProtocolError(`input: ${seq} after ${this.#received}`);
    this.#waitingChars += line?.length ?? 0;
    if (this.#waiting.length >= MAX_WAITING_LINES || this.#waitingChars > MAX_WAITING_BYTES) {
      throw new ProtocolError("input: more lines than may wait for a program");
    }
    this.#received = seq;
    this.#hasEnd = line === undefined;
    this.#waiting.push({ seq, line });
    this.#arrival.resolve();
  }

  async feed(write: (line: string) => Promise<void>, end: () => void): Promise<void> {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined) {
        await this.#arrival.promise;
        this.#arrival = Promise.withResolvers();
        continue;
      }
      if (next.line === undefined) end();
      else await write(next.line);
      this.#waiting.shift();
      this.#waitingChars -= next.line?.length ?? 0;
      this.#taken = next.seq;
      this.#onTaken(next.seq);
      if (next.line === undefined) return;
    }
  }
}
