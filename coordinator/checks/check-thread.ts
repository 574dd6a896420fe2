import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { checkBudgets } from "./check-budget.ts";
import type { CheckKind, CheckParams, CheckResult } from "./check-tasks.ts";
import type { CheckMessage, CheckReply } from "./check-worker.ts";

/**
 * Time after which a check is stopped, even on a busy machine. Usual limits are stricter: 250 ms of CPU time for the
 * schema of a client, and a number of steps for others.
 */
const MAX_CHECK_MS = 10_000;
/** Far above the need of a check, because a thread without memory may end the process. See `MAX_PARSED_CHARS`. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 64 };

/** The check did not end within its time or memory. */
export class CheckStopped extends Error {
  override readonly name = "CheckStopped";
}

/** The coordinator stops before the check has ended. */
export class ChecksClosed extends Error {
  override readonly name = "ChecksClosed";
}

interface Waiting {
  readonly accountId: string;
  readonly message: CheckMessage;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * Runs checks in one thread, one at a time. The account that has used the least time is next. The thread starts with
 * the first check, and a check that exceeds its limit ends it. An idle thread does not keep the process alive.
 */
export function openCheckThread(
  clock: Pick<Clock, "schedule" | "monotonicMs">,
  budgets: Pick<ReturnType<typeof checkBudgets>, "add" | "usedMs">,
  maxCheckMs = MAX_CHECK_MS,
) {
  const waiting = new Map<string, Waiting[]>();
  let thread: { readonly worker: Worker; isReady: boolean } | null = null;
  let running: { readonly task: Waiting; readonly timer: Timer; readonly sinceMs: number } | null = null;
  let isClosed = false;

  function start(): NonNullable<typeof thread> {
    const file = new URL(`./check-worker.${import.meta.url.slice(-2)}`, import.meta.url);
    const started = { worker: new Worker(file, { env: {}, resourceLimits: HEAP_LIMITS }), isReady: false };
    const { worker } = started;
    worker.on("message", (reply: CheckReply) => {
      if (thread !== started) return;
      started.isReady = true;
      if (reply.outcome !== undefined) end(reply.outcome, reply.cpuMs);
      next();
    });
    // The thread has too little memory, or cannot start.
    worker.on("error", (cause) => replace(started, new CheckStopped(cause.message, { cause })));
    return started;
  }

  /** Ends a thread and its check. The next check starts another thread. */
  function replace(old: NonNullable<typeof thread>, error: Error): void {
    if (thread !== old) return;
    thread = null;
    void old.worker.terminate();
    const tasks = running === null ? takeAll() : [];
    if (running !== null) end(error, clock.monotonicMs() - running.sinceMs);
    // A thread that ends before its first check could not start, and neither would the next.
    for (const task of tasks) task.reject(error);
    next();
  }

  function end(outcome: NonNullable<CheckReply["outcome"]> | Error, usedCpuMs: number): void {
    if (running === null) return;
    const { task, timer } = running;
    running = null;
    timer.cancel();
    budgets.add(task.accountId, usedCpuMs);
    if (outcome instanceof Error) task.reject(outcome);
    else if ("error" in outcome) task.reject(new Error(`A check failed: ${outcome.error}`));
    else task.resolve(outcome.result);
  }

  function next(): void {
    if (running !== null) return;
    if (waiting.size === 0) {
      thread?.worker.unref();
      return;
    }
    thread ??= start();
    thread.worker.ref();
    if (!thread.isReady) return;
    const task = takeNext();
    const used = thread;
    const timer = clock.schedule(maxCheckMs, () => replace(used, new CheckStopped("The check took too long")));
    running = { task, timer, sinceMs: clock.monotonicMs() };
    used.worker.postMessage(task.message);
  }

  function takeNext(): Waiting {
    const [first, ...others] = waiting.keys();
    const accountId = others.reduce(
      (least, each) => (budgets.usedMs(each) < budgets.usedMs(least) ? each : least),
      first ?? "",
    );
    const tasks = waiting.get(accountId) ?? [];
    const task = tasks.shift();
    if (tasks.length === 0) waiting.delete(accountId);
    if (task === undefined) throw new Error("No check is waiting");
    return task;
  }

  function takeAll(): Waiting[] {
    const all = [...waiting.values()].flat();
    waiting.clear();
    return all;
  }

  return {
    /** @throws {CheckStopped} {@link ChecksClosed} */
    run<K extends CheckKind>(accountId: string, kind: K, params: CheckParams<K>): Promise<CheckResult<K>> {
      if (isClosed) return Promise.reject(new ChecksClosed());
      return new Promise((resolve, reject) => {
        const task = { accountId, message: { kind, params }, resolve, reject };
        const tasks = waiting.get(accountId);
        if (tasks === undefined) waiting.set(accountId, [task]);
        else tasks.push(task);
        next();
      });
    },
    /** Stops the thread. Rejects all checks that have not ended. */
    async close(): Promise<void> {
      isClosed = true;
      for (const task of takeAll()) task.reject(new ChecksClosed());
      const { worker } = thread ?? {};
      thread = null;
      end(new ChecksClosed(), 0);
      await worker?.terminate();
    },
  };
}
