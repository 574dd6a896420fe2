import type { Clock, Timer } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { Logger } from "../../../shared/logger.ts";
import type { Admission, MemoryUse, ProbeResult } from "../runtime.ts";
import { factsOf, isCleanEnd, loadFailureOf, runFailureOf } from "./host-failure.ts";
import { type HostEnding, HostProcess, type HostProgram } from "./host-process.ts";
import type { FromHost, ToHost } from "./host-protocol.ts";
import { type LoadLimits, loadLimitMs } from "./load-limit.ts";
import { watchMemory } from "./memory-watch.ts";

/** Maximum time between a process's estimate and its load. */
const MAX_LOAD_WAIT_MS = 2_000;

/** Dependencies of all estimates and loads of a runtime. */
export interface HostContext {
  readonly clock: Clock;
  readonly limits: LoadLimits;
  readonly log: Pick<Logger, "info">;
}

/** Tests in a new process whether the runtime works here, and ends the process. Never throws. */
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

interface LoadSpec {
  /** Name of the Cargo, for the log. */
  readonly slug: string;
  /** The size on disk of this file or folder sets the time limit. */
  readonly modelPath: string;
  readonly request: unknown;
  /** Default: the host process estimates. */
  readonly estimate?: (() => Promise<MemoryUse>) | undefined;
  /** By default, the load starts immediately and without a RAM limit. */
  readonly admit?: Admission | undefined;
}

interface LoadedHost {
  readonly host: HostProcess;
  readonly memory: MemoryUse;
  readonly ramCeilingBytes: number;
}

/**
 * Starts a process that has loaded the model. If a host process estimated the memory, it also loads the
 * model, because native libraries are slow to start.
 * @throws {JobFailure} or `signal.reason`, after the process has ended.
 */
export async function loadInHost(
  program: HostProgram,
  context: HostContext,
  spec: LoadSpec,
  signal: AbortSignal,
): Promise<LoadedHost> {
  const { estimate, admit } = spec;
  signal.throwIfAborted();
  const waiting = new WaitingHost(program, context.clock);
  try {
    const estimateInHost = (): Promise<MemoryUse> => waiting.estimate(context, spec.request, signal);
    const ramCeilingBytes = (await admit?.(estimate ?? estimateInHost)) ?? Infinity;
    signal.throwIfAborted();
    const host = waiting.take() ?? new HostProcess(program, context.clock);
    return { host, memory: await load(host, context, spec, ramCeilingBytes, signal), ramCeilingBytes };
  } finally {
    await waiting.end();
  }
}

/** The process that has estimated a load, until the load starts. */
class WaitingHost {
  readonly #program: HostProgram;
  readonly #clock: Clock;
  #host: HostProcess | null = null;
  #limit: Timer | undefined;

  constructor(program: HostProgram, clock: Clock) {
    this.#program = program;
    this.#clock = clock;
  }

  /** Estimates the memory of the load in a new process. @throws {JobFailure} or `signal.reason`. */
  async estimate({ limits }: HostContext, request: unknown, signal: AbortSignal): Promise<MemoryUse> {
    const host = new HostProcess(this.#program, this.#clock);
    const limit = killAfter(host, this.#clock, limits.estimateMs, "did not estimate the model's memory");
    const first = await firstReply(host, { kind: "estimate", request }, signal).finally(() => limit.cancel());
    if ("ending" in first) throw loadFailureOf(this.#program, first.ending);
    if (first.reply.kind !== "estimated") {
      host.kill("it could not estimate the model's memory");
      throw failureIn(this.#program, "an estimate", first.reply);
    }
    this.#host = host;
    void host.ended.then(() => this.take());
    // Before the load, no budget counts the process's own memory, and the load may have to wait for hours.
    this.#limit = this.#clock.schedule(MAX_LOAD_WAIT_MS, () => void this.end());
    return first.reply.memory;
  }

  /** Returns and removes the process; null if it has ended or was removed. */
  take(): HostProcess | null {
    this.#limit?.cancel();
    const host = this.#host;
    this.#host = null;
    return host;
  }

  /** Ends a process that was not taken. */
  async end(): Promise<void> {
    const host = this.take();
    host?.kill("its load was cancelled");
    await host?.ended;
  }
}

/** Loads the model in the host. @throws {JobFailure} or `signal.reason`, after the process has ended. */
async function load(
  host: HostProcess,
  { clock, limits, log }: HostContext,
  { slug, modelPath, request }: LoadSpec,
  ceilingBytes: number,
  signal: AbortSignal,
): Promise<MemoryUse> {
  const { program } = host;
  const limit = killAfter(host, clock, await loadLimitMs(limits, modelPath), "did not load the model");
  const endWatch = watchMemory(host, { clock, ceilingBytes, onMeasured: () => {} });
  const first = await firstReply(host, { kind: "load", request }, signal).finally(() => {
    limit.cancel();
    endWatch();
  });
  if ("ending" in first) {
    log.info({ cargo: slug, ...factsOf(first.ending) }, `${program.name} process ended while loading`);
    throw loadFailureOf(program, first.ending);
  }
  const { reply } = first;
  if (reply.kind !== "loaded") {
    host.kill("it could not load the model");
    throw failureIn(program, "a load", reply);
  }
  const { memory, facts } = reply;
  log.info({ cargo: slug, pid: host.pid, ...memory, ...facts }, `${program.name} process loaded a model`);
  void host.ended.then((ending) => {
    const facts = { cargo: slug, pid: host.pid, ...factsOf(ending) };
    log.info(facts, `${program.name} process ended${isCleanEnd(ending) ? " after the unload" : ""}`);
  });
  return memory;
}

/**
 * Sends a request to a host and waits for the reply or for the end of the host. Aborting kills the host.
 * @throws `signal.reason` when aborted, after the process has ended.
 */
async function firstReply(
  host: HostProcess,
  request: ToHost<unknown, unknown, unknown>,
  signal: AbortSignal,
): Promise<{ reply: FromHost } | { ending: HostEnding }> {
  const onAbort = (): void => host.kill("it is no longer needed");
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (!host.send(request)) host.kill("a request to it was too long");
    const replied = new Promise<{ reply: FromHost }>((resolve) => host.listen((reply) => resolve({ reply })));
    const first = await Promise.race([replied, host.ended.then((ending) => ({ ending }))]);
    if (signal.aborted) await host.ended;
    signal.throwIfAborted();
    return first;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Kills a host that hangs, because its load occupies a slot, memory and files that other loads need. */
function killAfter(host: HostProcess, clock: Clock, limitMs: number, failing: string): Timer {
  return clock.schedule(limitMs, () =>
    host.kill(`it ${failing} within ${Math.round(limitMs / 1_000)} s`, "runtime_unavailable"),
  );
}

function failureIn(program: HostProgram, to: string, reply: FromHost): Error {
  if (reply.kind !== "refused") return new Error(`${program.name} process replied to ${to} with ${reply.kind}`);
  const { code, message, retryable } = reply.error;
  return new JobFailure(code, message, { retryable });
}
