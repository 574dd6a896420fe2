/** Entry of the child process that runs llama.cpp for one model. Started by `HostProcess` and by nothing else. */
import { Worker } from "node:worker_threads";
import { JobFailure, type JobError } from "../../../shared/errors.ts";
import type { FromHost, LoadOrder, ToHost } from "./host-messages.ts";
import type { LoadedChatModel } from "./load-model.ts";
import { Outbox } from "./outbox.ts";

const outbox = new Outbox(send);
const aborts = new Map<number, AbortController>();
let loaded: LoadedChatModel | undefined;

// Ctrl-C and a stopping service reach the whole process group: whether we end is for the agent to say.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", endNow);
new Worker(new URL(`./parent-watch.${import.meta.url.slice(-2)}`, import.meta.url)).unref();
process.on("message", (message) => receive(message as ToHost));

function receive(message: ToHost): void {
  switch (message.kind) {
    case "probe":
      void probe(message);
      return;
    case "load":
      void load(message.order);
      return;
    case "run":
      void run(message);
      return;
    case "abort":
      aborts.get(message.run)?.abort();
      return;
    case "end":
      void end();
      return;
    default:
      message satisfies never;
  }
}

async function probe({ gpu }: Extract<ToHost, { kind: "probe" }>): Promise<void> {
  const { probeLlama } = await import("./probe-llama.ts");
  send({ kind: "probed", result: await probeLlama(gpu) });
}

async function load(order: LoadOrder): Promise<void> {
  try {
    const { loadChatModel } = await import("./load-model.ts");
    loaded = await loadChatModel(order);
    send({ kind: "loaded", residentBytes: process.memoryUsage.rss(), contextTokens: loaded.contextTokens });
  } catch (error) {
    send({ kind: "load_failed", error: jobErrorOf(error) });
  }
}

async function run({ run, request, resume }: Extract<ToHost, { kind: "run" }>): Promise<void> {
  const abort = new AbortController();
  aborts.set(run, abort);
  try {
    if (loaded === undefined) throw new Error("A run came before the model was loaded");
    const onOutput = outbox.add.bind(outbox, run);
    const result = await loaded.chatModel.run(request, resume, onOutput, abort.signal);
    outbox.end({ kind: "finished", run, result });
  } catch (error) {
    outbox.end(abort.signal.aborted ? { kind: "aborted", run } : { kind: "failed", run, error: jobErrorOf(error) });
  } finally {
    aborts.delete(run);
  }
}

async function end(): Promise<void> {
  try {
    await loaded?.dispose();
  } finally {
    endNow();
  }
}

/** Ends at once and runs no native destructors, which crash or hang while work is under way. */
function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}

function jobErrorOf(error: unknown): JobError {
  if (error instanceof JobFailure) return { code: error.code, message: error.message, retryable: error.retryable };
  const why = error instanceof Error ? error.message : String(error);
  return { code: "internal", message: `llama.cpp host: ${why}`, retryable: false };
}

function send(message: FromHost): void {
  // The callback takes the error of a channel that has just closed; "disconnect" ends us then.
  process.send?.(message, undefined, undefined, () => {});
}
