import type { CargoManifest } from "../../../shared/cargo.ts";
import { chatInputSchema, chatRequestOf, type ChatRequest } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { hostEnvironment } from "../host/host-environment.ts";
import { hostEntry, type HostProgram } from "../host/host-process.ts";
import type { HostedCargo } from "../host/hosted-cargo.ts";
import { loadHosted } from "../host/load-hosted.ts";
import { HOSTING_DEFAULTS, type HostingOptions } from "../host/hosting-options.ts";
import { estimateInHost, probeInHost } from "../host/start-host.ts";
import type { CargoRuntime, MemoryUse, ProbeResult, RunRequest } from "../runtime.ts";
import type { GpuChoice, LoadOrder, ProbeOrder } from "./host-requests.ts";

/** Where a Cargo does not say how much context it needs. */
const DEFAULT_CONTEXT_TOKENS = 4_096;
const DEFAULT_SEQUENCES = 4;
/** libuv threads kept for file reads and model loading, beside one for each sequence that is sampled. */
const SPARE_POOL_THREADS = 4;

export interface LlmcppOptions extends HostingOptions {
  /** CPU threads of one model, at least 1: physical cores less one. More than there are cores collapses the speed. */
  readonly threads: number;
  /** Runs of one model that are batched; each has a context of its own in memory. */
  readonly sequences?: number;
  readonly gpu: GpuChoice;
  /** The owner's cap on VRAM; null, and by default: none. */
  readonly vramCapBytes?: number | null;
}

/** Language models in GGUF files, by llama.cpp: one child process for each loaded model. */
export class LlmcppRuntime implements CargoRuntime {
  readonly type = "llmcpp";
  readonly #options: Required<LlmcppOptions>;
  readonly #program: HostProgram;

  constructor(options: LlmcppOptions) {
    this.#options = {
      ...HOSTING_DEFAULTS,
      sequences: DEFAULT_SEQUENCES,
      vramCapBytes: null,
      ...options,
    };
    const { environment, sequences } = this.#options;
    this.#program = {
      name: "llama.cpp",
      entry: hostEntry("llama-host", import.meta.url),
      environment: hostEnvironment(environment, {
        UV_THREADPOOL_SIZE: String(sequences + SPARE_POOL_THREADS),
        // llama.cpp would start a debugger to print a backtrace when it aborts.
        GGML_NO_BACKTRACE: "1",
      }),
      explainCrash: assertionIn,
    };
  }

  probe(signal: AbortSignal): Promise<ProbeResult> {
    const order: ProbeOrder = { gpu: this.#options.gpu };
    return probeInHost(this.#program, this.#options.clock, order, signal);
  }

  /** By node-llama-cpp from the file's header, in a process of its own: a malformed file may end it. */
  estimate(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<MemoryUse> {
    return estimateInHost(this.#program, this.#options, this.#orderFor(cargo, modelPath), signal);
  }

  async load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    ramCeilingBytes?: number,
  ): Promise<HostedCargo<ChatRequest>> {
    const load = this.#orderFor(cargo, modelPath);
    const spec = { slug: cargo.slug, modelPath: load.modelPath, load, ramCeilingBytes };
    const traits = { concurrency: this.#options.sequences, canResume: true, readInput };
    return loadHosted(this.#program, this.#options, spec, traits, signal);
  }

  /** @throws {JobFailure} `model_invalid` */
  #orderFor(cargo: CargoManifest, modelPath: string | null): LoadOrder {
    if (modelPath === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} names no model`);
    const { sequences, threads, gpu, vramCapBytes } = this.#options;
    const contextTokens = cargo.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
    return { modelPath, contextTokens, sequences, threads, gpu, vramCapBytes };
  }
}

/** @throws {JobFailure} `invalid_input`, naming the first wrong field. */
function readInput(input: RunRequest["input"]): ChatRequest {
  const parsed = chatInputSchema.safeParse(input);
  if (parsed.success) return chatRequestOf(parsed.data);
  const [issue] = parsed.error.issues;
  throw new JobFailure("invalid_input", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not chat input"}`);
}

/** The assertion that llama.cpp printed, without the path of its source file. */
function assertionIn(stderr: string): string {
  return /GGML_ASSERT\(.*\) failed/.exec(stderr)?.[0] ?? "";
}
