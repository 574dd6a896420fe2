import type { CargoManifest } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { CargoRuntime, ProbeResult } from "../runtime.ts";
import type { Environment } from "./host-environment.ts";
import { loadFailureOf, runFailureOf } from "./host-failure.ts";
import type { FromHost, GpuChoice, ToHost } from "./host-messages.ts";
import { type HostEnding, HostProcess } from "./host-process.ts";
import { LoadedLlm } from "./loaded-llm.ts";

/** Where a Cargo does not say how much context it needs. */
const DEFAULT_CONTEXT_TOKENS = 4_096;
const DEFAULT_SEQUENCES = 4;
/** Source: DESIGN §7. */
const DEFAULT_KILL_AFTER_MS = 2_000;

export interface LlmcppOptions {
  /** CPU threads of one model, at least 1: physical cores less one. More than there are cores collapses the speed. */
  readonly threads: number;
  /** Runs of one model that are batched; each has a context of its own in memory. */
  readonly sequences?: number;
  readonly gpu: GpuChoice;
  readonly clock: Clock;
  /** How long a cancelled run, or a model that is unloaded, may take before its process is killed. */
  readonly killAfterMs?: number;
  /** The agent's own environment; only what loaders and drivers need is passed on. */
  readonly environment?: Environment;
  /** Told of events worth a log line. Never gets prompts or answers. */
  readonly log?: (message: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** Language models in GGUF files, by llama.cpp: one child process for each loaded model. */
export class LlmcppRuntime implements CargoRuntime {
  readonly type = "llmcpp";
  readonly #options: Required<LlmcppOptions>;

  constructor(options: LlmcppOptions) {
    this.#options = {
      sequences: DEFAULT_SEQUENCES,
      killAfterMs: DEFAULT_KILL_AFTER_MS,
      environment: {},
      log: () => {},
      ...options,
    };
  }

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    try {
      signal.throwIfAborted();
      const host = this.#startHost();
      const first = await firstWord(host, { kind: "probe", gpu: this.#options.gpu }, signal);
      host.kill("the probe is done");
      if ("ending" in first) throw runFailureOf(first.ending);
      if (first.answer.kind !== "probed")
        throw new Error(`llama.cpp process answered a probe with ${first.answer.kind}`);
      return first.answer.result;
    } catch (error) {
      return { usable: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async load(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<LoadedLlm> {
    signal.throwIfAborted();
    if (modelPath === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} names no model`);
    const { sequences, threads, gpu, clock, killAfterMs, log } = this.#options;
    const contextTokens = cargo.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
    const host = this.#startHost();
    const order = { modelPath, contextTokens, sequences, threads, gpu };
    const first = await firstWord(host, { kind: "load", order }, signal);
    if ("ending" in first) {
      log("llama.cpp process ended while loading", { cargo: cargo.slug, ...first.ending });
      throw loadFailureOf(first.ending);
    }
    const { answer } = first;
    if (answer.kind !== "loaded") {
      host.kill("it could not load the model");
      if (answer.kind !== "load_failed") throw new Error(`llama.cpp process answered a load with ${answer.kind}`);
      throw new JobFailure(answer.error.code, answer.error.message, { retryable: answer.error.retryable });
    }
    const { residentBytes } = answer;
    log("llama.cpp process loaded a model", { cargo: cargo.slug, pid: host.pid, ...answer });
    void host.ended.then((ending) => log("llama.cpp process ended", { cargo: cargo.slug, pid: host.pid, ...ending }));
    return new LoadedLlm(host, { residentBytes, sequences, clock, killAfterMs });
  }

  #startHost(): HostProcess {
    const { environment, sequences, clock } = this.#options;
    return new HostProcess({ environment, sequences, clock });
  }
}

/**
 * Gives a new host its first order and waits for what it says, or for its end. Aborting kills it.
 * @throws `signal.reason` when aborted, the process being gone by then.
 */
async function firstWord(
  host: HostProcess,
  order: ToHost,
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
