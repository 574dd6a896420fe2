import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { JsonLineReader } from "../json-lines.ts";
import type { RunResult } from "../runtime.ts";
import { engineGone } from "./engine-failure.ts";
import { failureOfExit } from "./exit-failure.ts";
import type { ContainerListener, JobContainer } from "./job-container.ts";

/** Of one job. Only its end is kept, but all of it has to be read. */
const MOST_STDERR_BYTES = 16_000_000;

/** What a container's program says in one job, up to its last word or its end. */
export class JobTalk implements ContainerListener {
  readonly #reader: JsonLineReader;
  /** Resolves at the last word or the end of the output; rejects for output that is none. */
  readonly #over = Promise.withResolvers<void>();
  readonly #signal: AbortSignal;
  #stderrBytes = 0;
  #isBroken = false;

  /** @param signal from its abort on, no output is given. */
  constructor(onOutput: (item: OutputItem) => void, signal: AbortSignal) {
    this.#signal = signal;
    this.#reader = new JsonLineReader((item) => {
      if (!signal.aborted) onOutput(item);
    });
    // Nobody asks for the result of a talk that was given up before.
    this.#over.promise.catch(() => undefined);
  }

  onStdout(bytes: Uint8Array): void {
    this.#read(() => this.#reader.push(bytes));
    if (this.#reader.lastWord !== null) this.#over.resolve();
  }

  onStderr(bytes: Uint8Array): void {
    this.#stderrBytes += bytes.length;
    if (this.#stderrBytes <= MOST_STDERR_BYTES) return;
    const text = `The Cargo's program wrote too much: its standard error is over ${MOST_STDERR_BYTES} bytes`;
    this.#over.reject(new JobFailure("output_too_large", text));
  }

  onEnd(): void {
    this.#read(() => this.#reader.end());
    this.#over.resolve();
  }

  /** @throws {JobFailure} */
  async result(container: JobContainer, memoryBytes: number): Promise<RunResult> {
    await this.#over.promise;
    const { lastWord, tokens } = this.#reader;
    if (lastWord === null) throw await this.#failureOf(container, memoryBytes);
    if (lastWord.kind === "error") throw lastWord.failure;
    return {
      finishReason: "stop",
      usage: { promptTokens: 0, completionTokens: tokens },
      ...(lastWord.output === undefined ? {} : { output: lastWord.output }),
    };
  }

  async #failureOf(container: JobContainer, memoryBytes: number): Promise<Error> {
    try {
      return failureOfExit(await container.exit(), memoryBytes, container.stderrTail);
    } catch (error) {
      return engineGone(error);
    }
  }

  #read(work: () => void): void {
    if (this.#isBroken || this.#signal.aborted) return;
    try {
      work();
    } catch (error) {
      this.#isBroken = true;
      this.#over.reject(error);
    }
  }
}
