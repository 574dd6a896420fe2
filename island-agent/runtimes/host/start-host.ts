import type { Clock, Timer } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { MemoryUse, ProbeResult } from "../runtime.ts";
import type { FromHost } from "./from-host.ts";
import { loadFailureOf, runFailureOf } from "./host-failure.ts";
import type { AnyToHost } from "./host-messages.ts";
import { watchMemory } from "./memory-watch.ts";
import { type HostEnding, HostProcess, type HostProgram } from "./host-process.ts";
import { type LoadLimits, loadLimitMs } from "./load-limit.ts";

/** Told of events worth a log line. Never gets inputs or outputs of jobs. */
export type HostLog = (message: string, facts: Readonly<Record<string, unknown>>) => void;

/** What a runtime's loads have in common. */
export interface HostedLoads {
  readonly clock: Clock;
  readonly limits: LoadLimits;
  readonly log: HostLog;
}

/** Asks a new process whether the runtime works here, and ends it. Never throws. */
export async function probeInHost(
  program: HostProgram,
  clock: Clock,
  order: unknown,
  signal: AbortSignal,
): Promise<ProbeResult> {
  try {
    signal.throwIfAborted();
    const host = new HostProcess(program, clock);
    const first = await firstWord(host, { kind: "probe", order }, signal);
    host.kill("the probe is done");
    if ("ending" in first) throw runFailureOf(program, first.ending);
    if (first.answer.kind !== "probed") throw failureIn(program, "a probe", first.answer);
    return first.answer.result;
  } catch (error) {
    return { usable: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Asks a new process what the load would take, and ends it. @throws {JobFailure} or `signal.reason`. */
export async function estimateInHost(
  program: HostProgram,
  { clock, limits }: HostedLoads,
  order: unknown,
  signal: AbortSignal,
): Promise<MemoryUse> {
  signal.throwIfAborted();
  const host = new HostProcess(program, clock);
  const limit = limitOn(host, clock, limits.estimateMs, "did not say what the model takes");
  const first = await firstWord(host, { kind: "estimate", order }, signal).finally(() => limit.cancel());
  host.kill("the estimate is done");
  if ("ending" in first) throw loadFailureOf(program, first.ending);
  if (first.answer.kind !== "estimated") throw failureIn(program, "an estimate", first.answer);
  return first.answer.memory;
}

/** What a host is to load. */
export interface LoadSpec {
  /** For the log. */
  readonly slug: string;
  /** By which its time is reckoned. */
  readonly modelPath: string;
  readonly load: unknown;
  /** RAM that the process may have; no bound, unless given. */
  readonly ramCeilingBytes?: number | undefined;
}

/**
 * Starts a process that has loaded what `spec` says.
 * @throws {JobFailure} or `signal.reason`, the process being gone by then.
 */
export async function loadInHost(
  program: HostProgram,
  { clock, limits, log }: HostedLoads,
  spec: LoadSpec,
  signal: AbortSignal,
): Promise<{ host: HostProcess; memory: MemoryUse }> {
  const { slug, modelPath, load, ramCeilingBytes: ceilingBytes = Infinity } = spec;
  const limitMs = await loadLimitMs(limits, modelPath);
  signal.throwIfAborted();
  const host = new HostProcess(program, clock);
  const limit = limitOn(host, clock, limitMs, "did not load the model");
  const endWatch = watchMemory(host, { clock, ceilingBytes, onMeasured: () => {} });
  const first = await firstWord(host, { kind: "load", order: load }, signal).finally(() => {
    limit.cancel();
    endWatch();
  });
  if ("ending" in first) {
    log(`${program.name} process ended while loading`, { cargo: slug, ...first.ending });
    throw loadFailureOf(program, first.ending);
  }
  const { answer } = first;
  if (answer.kind !== "loaded") {
    host.kill("it could not load the model");
    throw failureIn(program, "a load", answer);
  }
  const { memory, facts } = answer;
  log(`${program.name} process loaded a model`, { cargo: slug, pid: host.pid, ...memory, ...facts });
  void host.ended.then((end) => log(`${program.name} process ended`, { cargo: slug, pid: host.pid, ...end }));
  return { host, memory };
}

/**
 * Gives a new host its first order and waits for what it says, or for its end. Aborting kills it.
 * @throws `signal.reason` when aborted, the process being gone by then.
 */
async function firstWord(
  host: HostProcess,
  order: AnyToHost,
  signal: AbortSignal,
): Promise<{ answer: FromHost } | { ending: HostEnding }> {
  const onAbort = (): void => host.kill("it was not wanted any more");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    host.send(order);
    const answered = new Promise<{ answer: FromHost }>((resolve) => host.listen((answer) => resolve({ answer })));
    const first = await Promise.race([answered, host.ended.then((ending) => ({ ending }))]);
    if (signal.aborted) await host.ended;
    signal.throwIfAborted();
    return first;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Kills a host that hangs: whoever waits for it holds a slot, memory and files meanwhile. */
function limitOn(host: HostProcess, clock: Clock, limitMs: number, failing: string): Timer {
  return clock.schedule(limitMs, () =>
    host.kill(`it ${failing} within ${Math.round(limitMs / 1_000)} s`, "runtime_unavailable"),
  );
}

function failureIn(program: HostProgram, to: string, answer: FromHost): Error {
  if (answer.kind !== "refused") return new Error(`${program.name} process answered ${to} with ${answer.kind}`);
  const { code, message, retryable } = answer.error;
  return new JobFailure(code, message, { retryable });
}
