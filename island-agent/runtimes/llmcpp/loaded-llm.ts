import { chatInputSchema, chatRequestOf, type ChatRequest } from "../../../shared/chat-input.ts";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { LoadedCargo, RunRequest, RunResult } from "../runtime.ts";
import { runFailureOf } from "./host-failure.ts";
import type { FromHost } from "./host-messages.ts";
import type { HostEnding, HostProcess } from "./host-process.ts";

interface ActiveRun {
  readonly onOutput: (item: OutputItem) => void;
  readonly settle: (outcome: { result: RunResult } | { error: Error }) => void;
}

/** The agent's side of a loaded model: runs go to its host process, and all of them fail when it ends. */
export class LoadedLlm implements LoadedCargo {
  readonly residentBytes: number;
  readonly concurrency: number;
  readonly gone: Promise<void>;
  readonly #host: HostProcess;
  readonly #clock: Clock;
  readonly #killAfterMs: number;
  readonly #runs = new Map<number, ActiveRun>();
  #lastRun = 0;
  #isDisposed = false;
  #ending: HostEnding | undefined;

  constructor(
    host: HostProcess,
    options: { residentBytes: number; sequences: number; clock: Clock; killAfterMs: number },
  ) {
    this.#host = host;
    this.#clock = options.clock;
    this.#killAfterMs = options.killAfterMs;
    this.residentBytes = options.residentBytes;
    this.concurrency = options.sequences;
    host.listen((message) => this.#receive(message));
    this.gone = host.ended.then((ending) => this.#end(ending));
  }

  /** The host process, for those who count processes. */
  get pid(): number | undefined {
    return this.#host.pid;
  }

  async run(request: RunRequest, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult> {
    signal.throwIfAborted();
    if (this.#isDisposed || this.#ending !== undefined) throw this.#failure();
    const chat = readInput(request.input);
    return this.#start({ request: chat, resume: request.resume }, onOutput, signal);
  }

  /** Ends the host process; runs under way fail, retryable. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isDisposed) {
      this.#isDisposed = true;
      this.#host.send({ kind: "end" });
      const timer = this.#clock.schedule(this.#killAfterMs, () => this.#host.kill("it did not end when told to"));
      void this.gone.then(() => timer.cancel());
    }
    await this.gone;
  }

  #start(
    job: { request: ChatRequest; resume: RunRequest["resume"] },
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
  ): Promise<RunResult> {
    const run = ++this.#lastRun;
    let killTimer: Timer | undefined;
    const onAbort = (): void => {
      this.#host.send({ kind: "abort", run });
      // Reading a prompt cannot be interrupted, and native code may hang. The other runs of the process are lost with it.
      killTimer = this.#clock.schedule(this.#killAfterMs, () =>
        this.#host.kill("a cancelled job in it did not stop in time"),
      );
    };
    return new Promise((resolve, reject) => {
      this.#runs.set(run, {
        onOutput: (item) => {
          if (!signal.aborted) onOutput(item);
        },
        settle: (outcome) => {
          this.#runs.delete(run);
          killTimer?.cancel();
          signal.removeEventListener("abort", onAbort);
          if (signal.aborted) reject(signal.reason as Error);
          else if ("result" in outcome) resolve(outcome.result);
          else reject(outcome.error);
        },
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#host.send({ kind: "run", run, ...job });
    });
  }

  #receive(message: FromHost): void {
    switch (message.kind) {
      case "output":
        for (const { run, items } of message.outputs) {
          for (const item of items) this.#runs.get(run)?.onOutput(item);
        }
        return;
      case "finished":
        this.#runs.get(message.run)?.settle({ result: message.result });
        return;
      case "failed": {
        const { code, message: why, retryable } = message.error;
        // Whatever a run says while its model is taken from under it, that is the reason.
        const error = this.#isDisposed ? this.#failure() : new JobFailure(code, why, { retryable });
        this.#runs.get(message.run)?.settle({ error });
        return;
      }
      case "aborted":
        this.#runs
          .get(message.run)
          ?.settle({ error: new Error("The host process stopped a run that was not aborted") });
        return;
      case "probed":
      case "loaded":
      case "load_failed":
        return;
      default:
        message satisfies never;
    }
  }

  #end(ending: HostEnding): void {
    this.#ending = ending;
    for (const { settle } of this.#runs.values()) settle({ error: this.#failure() });
  }

  #failure(): JobFailure {
    if (this.#isDisposed || this.#ending === undefined) {
      return new JobFailure("runtime_unavailable", "The model has been unloaded", { retryable: true });
    }
    return runFailureOf(this.#ending);
  }
}

/** @throws {JobFailure} `invalid_input`, naming the first wrong field. */
function readInput(input: RunRequest["input"]): ChatRequest {
  const parsed = chatInputSchema.safeParse(input);
  if (parsed.success) return chatRequestOf(parsed.data);
  const [issue] = parsed.error.issues;
  throw new JobFailure("invalid_input", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not chat input"}`);
}
