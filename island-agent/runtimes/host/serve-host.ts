import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../../shared/clock.ts";
import { JobFailure, type JobError } from "../../../shared/errors.ts";
import type { OutputItem, PromptTokens } from "../../../shared/output.ts";
import type { MemoryUse, ProbeResult, RunResult, RunWatcher } from "../runtime.ts";
import { CHANNEL_FD, HostChannel } from "./host-channel.ts";
import type { FromHost, HostRun, ToHost } from "./host-protocol.ts";
import { RunOutbox } from "./run-outbox.ts";

/** A model loaded in a host process. */
export interface HostedModel<Job> {
  /** Fields for the log. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** GPU memory that the model takes; null when it uses no GPU. `isShared`: that memory is the machine's RAM. */
  readonly gpuMemory: { readonly bytes: number; readonly isShared: boolean } | null;
  /**
   * Runs one job. After `signal` is aborted, any error counts as the end of the run.
   * @param watcher both functions may be called at any rate.
   * @throws {JobFailure}
   */
  run(
    run: HostRun<Job>,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    watcher: Required<RunWatcher>,
  ): Promise<RunResult>;
  dispose(): Promise<void>;
}

/** Handlers of a host process. Import native packages inside them, never at the top of the entry file. */
interface HostHandlers<ProbeRequest, LoadRequest, Job> {
  /** Name in messages, such as "llama.cpp". */
  readonly name: string;
  probe(request: ProbeRequest): Promise<ProbeResult>;
  /** Returns the memory of a load. Omit it if the agent estimates for the runtime. @throws {JobFailure} */
  estimate?(request: LoadRequest): Promise<MemoryUse>;
  /** @throws {JobFailure} */
  load(request: LoadRequest): Promise<HostedModel<Job>>;
}

const WORKING_EVERY_MS = 1_000;

/** Makes this process a host, which serves the agent that started it and ends with it. Called once. */
export function serveHost<ProbeRequest, LoadRequest, Job>(
  handlers: HostHandlers<ProbeRequest, LoadRequest, Job>,
): void {
  const pipe = new Socket({ fd: CHANNEL_FD });
  const channel = new HostChannel(pipe, {
    onMessage: (message) => void receive(message as ToHost<ProbeRequest, LoadRequest, Job>),
    onBroken: endNow,
  });
  const send = (message: FromHost): boolean => channel.send(message);
  const outbox = new RunOutbox(send);
  const aborts = new Map<number, AbortController>();
  let model: HostedModel<Job> | undefined;

  // Ctrl-C and a stopping service signal the whole process group; the agent decides when a host ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  pipe.on("close", endNow);
  new Worker(new URL(`./parent-watch.${import.meta.url.slice(-2)}`, import.meta.url)).unref();

  async function receive(message: ToHost<ProbeRequest, LoadRequest, Job>): Promise<void> {
    switch (message.kind) {
      case "probe":
        send({ kind: "probed", result: await handlers.probe(message.request) });
        return;
      case "estimate":
        return estimate(message.request);
      case "load":
        return load(message.request);
      case "run":
        return run(message.run, message);
      case "abort":
        return aborts.get(message.run)?.abort();
      case "end":
        return end();
      default:
        message satisfies never;
    }
  }

  async function estimate(request: LoadRequest): Promise<void> {
    try {
      if (handlers.estimate === undefined) throw new Error("this runtime does not estimate memory");
      send({ kind: "estimated", memory: await handlers.estimate(request) });
    } catch (error) {
      send({ kind: "refused", error: jobErrorOf(handlers.name, error) });
    }
  }

  async function load(request: LoadRequest): Promise<void> {
    try {
      model = await handlers.load(request);
      send({ kind: "loaded", memory: memoryOf(model), facts: model.facts });
    } catch (error) {
      send({ kind: "refused", error: jobErrorOf(handlers.name, error) });
    }
  }

  async function run(id: number, { job, resume, cacheKey }: HostRun<Job>): Promise<void> {
    const abort = new AbortController();
    aborts.set(id, abort);
    try {
      if (model === undefined) throw new Error("A run came before the model was loaded");
      const onOutput = (item: OutputItem): void => outbox.add(id, item);
      const working = new Throttle(WORKING_EVERY_MS);
      const onPrompt = (prompt: PromptTokens): void => {
        working.note();
        send({ kind: "prompt", run: id, prompt });
      };
      const onWorking = (): void => void (working.isDue() && send({ kind: "working", run: id }));
      const result = await model.run({ job, resume, cacheKey }, onOutput, abort.signal, { onPrompt, onWorking });
      const isSent = outbox.end({ kind: "finished", run: id, result, memory: memoryOf(model) });
      if (!isSent) throw new JobFailure("output_too_large", "The output exceeds the limit of 64 MiB");
    } catch (error) {
      const failed: FromHost = { kind: "failed", run: id, error: jobErrorOf(handlers.name, error) };
      outbox.end(abort.signal.aborted ? { kind: "aborted", run: id } : failed);
    } finally {
      aborts.delete(id);
    }
  }

  async function end(): Promise<void> {
    try {
      await model?.dispose();
    } finally {
      endNow();
    }
  }
}

/** Due immediately, and then once `everyMs` has passed. */
class Throttle {
  readonly #everyMs: number;
  #lastMs = -Infinity;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Records that the event has happened in another way. */
  note(): void {
    this.#lastMs = systemClock.monotonicMs();
  }

  isDue(): boolean {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#lastMs < this.#everyMs) return false;
    this.#lastMs = nowMs;
    return true;
  }
}

/** Returns the RAM of this process and the memory that its model takes on GPUs. */
function memoryOf<Job>({ gpuMemory }: HostedModel<Job>): MemoryUse {
  const ramBytes = process.memoryUsage.rss();
  if (gpuMemory === null) return { ramBytes, vramBytes: 0 };
  const { bytes, isShared } = gpuMemory;
  return isShared ? { ramBytes: ramBytes + bytes, vramBytes: 0 } : { ramBytes, vramBytes: bytes };
}

/** Ends without running native destructors, which crash or hang during active work. */
function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}

function jobErrorOf(name: string, error: unknown): JobError {
  if (error instanceof JobFailure) return { code: error.code, message: error.message, retryable: error.retryable };
  const why = error instanceof Error ? error.message : String(error);
  return { code: "internal", message: `${name} process: ${why}`, retryable: false };
}
