import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { JobFailure, type JobError } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { MemoryUse, ProbeResult, RunResult } from "../runtime.ts";
import type { FromHost } from "./from-host.ts";
import { CHANNEL_FD, HostChannel } from "./host-channel.ts";
import type { HostRun, ToHost } from "./host-messages.ts";
import { RunOutbox } from "./run-outbox.ts";

/** A model in the memory of a host process. */
export interface HostedModel<Job> {
  /** For the log. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Memory that it takes of GPUs; null without one. `isShared`: it is the machine's RAM. */
  readonly gpuMemory: { readonly bytes: number; readonly isShared: boolean } | null;
  /** Whatever it throws once `signal` is aborted is taken for its end. @throws {JobFailure} */
  run(run: HostRun<Job>, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult>;
  dispose(): Promise<void>;
}

/** What one kind of host process does. Native packages are imported in these functions, not before. */
export interface HostWork<Probe, Load, Job> {
  /** For messages: "llama.cpp". */
  readonly name: string;
  probe(order: Probe): Promise<ProbeResult>;
  /** What a load will take; left out where the agent works that out itself. @throws {JobFailure} */
  estimate?(order: Load): Promise<MemoryUse>;
  /** @throws {JobFailure} */
  load(order: Load): Promise<HostedModel<Job>>;
}

/** Makes this process a host: it obeys the agent that started it, and ends with it. Called once, by an entry file. */
export function serveHost<Probe, Load, Job>(work: HostWork<Probe, Load, Job>): void {
  const pipe = new Socket({ fd: CHANNEL_FD });
  const channel = new HostChannel(pipe, {
    onMessage: (message) => void receive(message as ToHost<Probe, Load, Job>),
    onBroken: endNow,
  });
  const send = (message: FromHost): boolean => channel.send(message);
  const outbox = new RunOutbox(send);
  const aborts = new Map<number, AbortController>();
  let model: HostedModel<Job> | undefined;

  // Ctrl-C and a stopping service reach the whole process group: whether we end is for the agent to say.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  pipe.on("close", endNow);
  new Worker(new URL(`./parent-watch.${import.meta.url.slice(-2)}`, import.meta.url)).unref();

  async function receive(message: ToHost<Probe, Load, Job>): Promise<void> {
    switch (message.kind) {
      case "probe":
        send({ kind: "probed", result: await work.probe(message.order) });
        return;
      case "estimate":
        return estimate(message.order);
      case "load":
        return load(message.order);
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

  async function estimate(order: Load): Promise<void> {
    try {
      if (work.estimate === undefined) throw new Error("does not estimate");
      send({ kind: "estimated", memory: await work.estimate(order) });
    } catch (error) {
      send({ kind: "refused", error: jobErrorOf(work.name, error) });
    }
  }

  async function load(order: Load): Promise<void> {
    try {
      model = await work.load(order);
      send({ kind: "loaded", memory: memoryOf(model), facts: model.facts });
    } catch (error) {
      send({ kind: "refused", error: jobErrorOf(work.name, error) });
    }
  }

  async function run(id: number, { job, resume }: HostRun<Job>): Promise<void> {
    const abort = new AbortController();
    aborts.set(id, abort);
    try {
      if (model === undefined) throw new Error("A run came before the model was loaded");
      const result = await model.run({ job, resume }, (item) => outbox.add(id, item), abort.signal);
      const isSent = outbox.end({ kind: "finished", run: id, result, memory: memoryOf(model) });
      if (!isSent) throw new JobFailure("output_too_large", "The answer is over 64 MiB");
    } catch (error) {
      const failed: FromHost = { kind: "failed", run: id, error: jobErrorOf(work.name, error) };
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

/** This process, with what its model has on GPUs. */
function memoryOf<Job>({ gpuMemory }: HostedModel<Job>): MemoryUse {
  const ramBytes = process.memoryUsage.rss();
  if (gpuMemory === null) return { ramBytes, vramBytes: 0 };
  const { bytes, isShared } = gpuMemory;
  return isShared ? { ramBytes: ramBytes + bytes, vramBytes: 0 } : { ramBytes, vramBytes: bytes };
}

/** Ends at once and runs no native destructors, which crash or hang while work is under way. */
function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}

function jobErrorOf(name: string, error: unknown): JobError {
  if (error instanceof JobFailure) return { code: error.code, message: error.message, retryable: error.retryable };
  const why = error instanceof Error ? error.message : String(error);
  return { code: "internal", message: `${name} process: ${why}`, retryable: false };
}
