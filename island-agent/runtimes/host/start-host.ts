import type { Clock, Timer } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { Logger } from "../../../shared/logger.ts";
import type { MemoryUse, ProbeResult } from "../runtime.ts";
import { loadFailureOf, runFailureOf } from "./host-failure.ts";
import { type HostEnding, HostProcess, type HostProgram } from "./host-process.ts";
import type { FromHost, ToHost } from "./host-protocol.ts";
import { type LoadLimits, loadLimitMs } from "./load-limit.ts";
import { watchMemory } from "./memory-watch.ts";

/** What all estimates and loads of a runtime share. */
export interface HostContext {
  readonly clock: Clock;
  readonly limits: LoadLimits;
  readonly log: Pick<Logger, "info">;
}

/** Asks a new process whether the runtime works here, and ends the process. Never throws. */
export async function probeInHost(
  program: HostProgram,
  clock: Clock,
  request: unknown,
  signal: AbortSignal,
): Promise<ProbeResult> {
  try {
    signal.throwIfAborted();
    const host = new HostProcess(program, clock);
    const first = await firstReply(host, { kind: "probe", request }, signal);
    host.kill("the probe is done");
    if ("ending" in first) throw runFailureOf(program, first.ending);
    if (first.reply.kind !== "probed") throw failureIn(program, "a probe", first.reply);
    return first.reply.result;
  } catch (error) {
    return { usable: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Asks a new process how much memory the load would take, and ends the process. @throws {JobFailure} or `signal.reason`. */
export async function estimateInHost(
  program: HostProgram,
  { clock, limits }: HostContext,
  request: unknown,
  signal: AbortSignal,
): Promise<MemoryUse> {
  signal.throwIfAborted();
  const host = new HostProcess(program, clock);
  const limit = killAfter(host, clock, limits.estimateMs, "did not estimate the model's memory");
  const first = await firstReply(host, { kind: "estimate", request }, signal).finally(() => limit.cancel());
  host.kill("the estimate is done");
  if ("ending" in first) throw loadFailureOf(program, first.ending);
  if (first.reply.kind !== "estimated") throw failureIn(program, "an estimate", first.reply);
  return first.reply.memory;
}

/** One load. */
export interface LoadSpec {
  /** For the log. */
  readonly slug: string;
  /** Its size on disk sets the time limit. */
  readonly modelPath: string;
  readonly request: unknown;
  /** RAM that the process may take. Default: no limit. */
  readonly ramCeilingBytes?: number | undefined;
}

/**
 * Starts a process that has loaded the model.
 * @throws {JobFailure} or `signal.reason`, after the process has ended.
 */
export async function loadInHost(
  program: HostProgram,
  { clock, limits, log }: HostContext,
  spec: LoadSpec,
  signal: AbortSignal,
): Promise<{ host: HostProcess; memory: MemoryUse }> {
  const { slug, modelPath, request, ramCeilingBytes: ceilingBytes = Infinity } = spec;
  const limitMs = await loadLimitMs(limits, modelPath);
  signal.throwIfAborted();
  const host = new HostProcess(program, clock);
  const limit = killAfter(host, clock, limitMs, "did not load the model");
  const endWatch = watchMemory(host, { clock, ceilingBytes, onMeasured: () => {} });
  const first = await firstReply(host, { kind: "load", request }, signal).finally(() => {
    limit.cancel();
    endWatch();
  });
  if ("ending" in first) {
    log.info({ cargo: slug, ...first.ending }, `${program.name} process ended while loading`);
    throw loadFailureOf(program, first.ending);
  }
  const { reply } = first;
  if (reply.kind !== "loaded") {
    host.kill("it could not load the model");
    throw failureIn(program, "a load", reply);
  }
  const { memory, facts } = reply;
  log.info({ cargo: slug, pid: host.pid, ...memory, ...facts }, `${program.name} process loaded a model`);
  void host.ended.then((end) => log.info({ cargo: slug, pid: host.pid, ...end }, `${program.name} process ended`));
  return { host, memory };
}

/**
 * Sends a new host its first request and waits for the reply or for its end. Aborting kills the host.
 * @throws `signal.reason` when aborted, after the process has ended.
 */
async function firstReply(
  host: HostProcess,
  request: ToHost<unknown, unknown, unknown>,
  signal: AbortSignal,
): Promise<{ reply: FromHost } | { ending: HostEnding }> {
  const onAbort = (): void => host.kill("it is no longer needed");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    host.send(request);
    const replied = new Promise<{ reply: FromHost }>((resolve) => host.listen((reply) => resolve({ reply })));
    const first = await Promise.race([replied, host.ended.then((ending) => ({ ending }))]);
    if (signal.aborted) await host.ended;
    signal.throwIfAborted();
    return first;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Kills a host that hangs: its load occupies a slot, memory and files that others wait for. */
function killAfter(host: HostProcess, clock: Clock, limitMs: number, failing: string): Timer {
  return clock.schedule(limitMs, () =>
    host.kill(`it ${failing} within ${Math.round(limitMs / 1_000)} s`, "runtime_unavailable"),
  );
}

function failureIn(program: HostProgram, to: string, reply: FromHost): Error {
  if (reply.kind !== "refused") return new Error(`${program.name} process answered ${to} with ${reply.kind}`);
  const { code, message, retryable } = reply.error;
  return new JobFailure(code, message, { retryable });
}
