import { parentPort } from "node:worker_threads";
import { CHECK_TASKS, type CheckKind } from "./check-tasks.ts";

/** Entry of the thread that runs checks, one after another. Only `check-thread.ts` starts it. */

export interface CheckMessage {
  readonly kind: CheckKind;
  readonly params: unknown;
}

/** The first reply, without an outcome, reports that the thread has started. */
export interface CheckReply {
  readonly outcome?: { readonly result: unknown } | { readonly error: string };
  readonly cpuMs: number;
}

parentPort?.on("message", ({ kind, params }: CheckMessage) => {
  const { user: before } = process.threadCpuUsage();
  const outcome = outcomeOf(kind, params);
  const reply: CheckReply = { outcome, cpuMs: (process.threadCpuUsage().user - before) / 1_000 };
  parentPort?.postMessage(reply);
});
parentPort?.postMessage({ cpuMs: 0 } satisfies CheckReply);

function outcomeOf(kind: CheckKind, params: unknown): CheckReply["outcome"] & {} {
  try {
    return { result: (CHECK_TASKS[kind] as (params: unknown) => unknown)(params) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
