import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { HostedRuntime } from "../../../../island-agent/runtimes/host/hosted-runtime.ts";
import { llmcppRuntime, type LlmcppOptions } from "../../../../island-agent/runtimes/llmcpp/llmcpp-runtime.ts";
import type { LoadedCargo, RunRequest, RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { makeTinyGguf, type TinyGgufOptions } from "../../../support/models/tiny-gguf.ts";
import { sandboxFor } from "../sandbox/test-sandbox.ts";

export const NEVER = new AbortController().signal;
export const TINY_ISLANDER = path.resolve(import.meta.dirname, "../../../../catalog/models/tiny-islander.gguf");

export function makeRuntime(options: Partial<LlmcppOptions> = {}): HostedRuntime {
  return llmcppRuntime({
    sandbox: sandboxFor({ gpu: false, mayFork: true }),
    threads: 1,
    gpu: false,
    clock: systemClock,
    ...options,
  });
}

export function makeCargo(overrides: Partial<CargoManifest> = {}): CargoManifest {
  return {
    slug: "tiny-chat",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: null,
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    contextTokens: 512,
    ...overrides,
  };
}

/**
 * The cache key of one account, whose runs reuse tokens. A prompt that is evaluated again may round to another word.
 */
export function makeRequest(input: Record<string, unknown>, resume: RunRequest["resume"] = null): RunRequest {
  return { input: { temperature: 0, ...input }, resume, cacheKey: "an account" };
}

export interface Collected extends RunResult {
  readonly text: string;
  readonly pieces: readonly string[];
  /** Token counts of the pieces. */
  readonly counts: readonly number[];
}

/** Runs a job to its end and collects its output. */
export async function collect(llm: LoadedCargo, request: RunRequest, signal: AbortSignal = NEVER): Promise<Collected> {
  const pieces: string[] = [];
  const counts: number[] = [];
  const result = await llm.run(
    request,
    (item) => {
      if (item.type !== "token") throw new Error(`unexpected ${item.type}`);
      pieces.push(item.content);
      counts.push(item.count);
    },
    signal,
  );
  return { ...result, text: pieces.join(""), pieces, counts };
}

/** Model files of one test file. */
export class ModelFolder implements Disposable {
  readonly #folder = mkdtempSync(path.join(tmpdir(), "atoll-gguf-"));

  write(name: string, content: Buffer | TinyGgufOptions): string {
    const file = path.join(this.#folder, name);
    writeFileSync(file, Buffer.isBuffer(content) ? content : makeTinyGguf(content));
    return file;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

export const HANGING_INPUT = {
  messages: Array.from({ length: 31 }, (_, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: "hi" })),
};
/**
 * A template that never ends for {@link HANGING_INPUT}. It depends on the number of messages, not on their content. Its
 * heading prevents node-llama-cpp from treating it as plain ChatML, which it would render itself.
 */
export const HANGING_TEMPLATE =
  "Chat\n{% if messages | length > 30 %}{% for a in range(10000) %}{% for b in range(10000) %}" +
  "{% for c in range(10000) %}{% endfor %}{% endfor %}{% endfor %}{% endif %}" +
  "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/** Returns whether a process runs. A zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    if (process.platform === "linux") return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Resolves when a process that is not our child has ended. */
export async function processEnd(pid: number): Promise<void> {
  while (isRunning(pid)) await systemClock.sleep(20);
}
