import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { JsonLineReader } from "../json-lines.ts";
import type { RunResult } from "../runtime.ts";
import { engineGone } from "./engine-failure.ts";
import { failureOfExit } from "./exit-failure.ts";
import type { ContainerListener, JobContainer } from "./job-container.ts";

/** Limit of standard error for one job. Only the end is kept, but reading more costs the owner CPU time. */
const MAX_STDERR_BYTES = 16_000_000;

/** Output of a container's program for one job, up to its `done` or `error` line or its end. */
export class JobOutput implements ContainerListener {
  readonly #reader: JsonLineReader;
  /** Resolves at the final line or the end of the output; rejects for invalid output. */
  readonly #over = Promise.withResolvers<void>();
  readonly #signal: AbortSignal;
  #stderrBytes = 0;
  #isBroken = false;

  /** @param signal no output is delivered after its abort. */
  constructor(onOutput: (item: OutputItem) => void, signal: AbortSignal) {
    this.#signal = signal;
    this.#reader = new JsonLineReader((item) => {
      if (!signal.aborted) onOutput(item);
    });
    // The result of an abandoned job is never awaited.
    this.#over.promise.catch(() => undefined);
  }

  onStdout(bytes: Uint8Array): void {
    this.#read(() => this.#reader.push(bytes));
    if (this.#reader.finalLine !== null) this.#over.resolve();
  }

  onStderr(bytes: Uint8Array): void {
    this.#stderrBytes += bytes.length;
    if (this.#stderrBytes <= MAX_STDERR_BYTES) return;
    const text = `The Cargo's program wrote too much: its standard error exceeds ${MAX_STDERR_BYTES} bytes`;
    this.#over.reject(new JobFailure("output_too_large", text));
  }

  onEnd(): void {
    this.#read(() => this.#reader.end());
    this.#over.resolve();
  }

  /** @throws {JobFailure} */
  async result(container: JobContainer, memoryBytes: number): Promise<RunResult> {
    await this.#over.promise;
    const { finalLine, tokens } = this.#reader;
    if (finalLine === null) throw await this.#failureOf(container, memoryBytes);
    if (finalLine.kind === "error") throw finalLine.failure;
    return {
      finishReason: "stop",
      usage: { promptTokens: 0, completionTokens: tokens },
      ...(finalLine.output === undefined ? {} : { output: finalLine.output }),
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
