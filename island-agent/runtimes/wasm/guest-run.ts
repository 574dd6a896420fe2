import { Worker } from "node:worker_threads";
import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { JsonLineReader } from "../json-lines.ts";
import { OutputTail } from "../output-tail.ts";
import type { RunResult } from "../runtime.ts";
import type { FromGuest, GuestEnd, GuestOrder } from "./guest-messages.ts";

/** Most of a guest's error output that is kept, its end. */
const STDERR_KEPT_BYTES = 2_048;
/** A guest that ends badly with so much of its memory taken has run out of it. */
const NEARLY_ALL = 0.9;
const BYTES_PER_MIB = 1_048_576;

/** A thread that waits for its one job. */
export function startGuestThread(): Worker {
  const entry = new URL(`./guest-thread.${import.meta.url.slice(-2)}`, import.meta.url);
  return new Worker(entry, { env: {}, stdin: false, execArgv: [] });
}

/**
 * Runs one job in `thread`, which is ended whatever happens. Aborting ends it at once, also amid an endless loop.
 * @throws {JobFailure} or `signal.reason`.
 */
export async function runGuest(
  thread: Worker,
  order: GuestOrder,
  memoryCapBytes: number,
  onOutput: (item: OutputItem) => void,
  signal: AbortSignal,
): Promise<RunResult> {
  const reader = new JsonLineReader(onOutput);
  const errors = new OutputTail(STDERR_KEPT_BYTES);
  let onAbort: (() => void) | undefined;
  try {
    const { end, memoryBytes } = await new Promise<Extract<FromGuest, { kind: "ended" }>>((resolve, reject) => {
      onAbort = (): void => reject(signal.reason as Error);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      thread.once("error", reject);
      thread.once("exit", () => reject(new Error("the guest's thread ended without a word")));
      thread.on("message", (message: FromGuest) => {
        try {
          if (message.kind === "ended") resolve(message);
          else if (message.fd === 1) reader.push(message.bytes);
          else errors.push(message.bytes);
        } catch (error) {
          reject(error);
        }
      });
      thread.postMessage(order);
    });
    const last = reader.end();
    if (last?.kind === "error") throw last.failure;
    if (last?.kind === "done" && end.kind === "exit" && end.code === 0) {
      const usage = { promptTokens: 0, completionTokens: reader.tokens };
      return { finishReason: "stop", usage, ...(last.output === undefined ? {} : { output: last.output }) };
    }
    throw failureOf(end, memoryBytes, memoryCapBytes, errors.text());
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
    await thread.terminate();
  }
}

function failureOf(end: GuestEnd, memoryBytes: number, capBytes: number, stderrTail: string): JobFailure {
  if (end.kind === "unusable") return new JobFailure("model_invalid", `The module cannot be run: ${end.message}`);
  const figures = `${Math.ceil(memoryBytes / BYTES_PER_MIB)} of ${Math.floor(capBytes / BYTES_PER_MIB)} MiB`;
  const said = stderrTail === "" ? "" : `; it wrote: ${stderrTail}`;
  const how = howItEnded(end);
  if (memoryBytes >= capBytes * NEARLY_ALL && !(end.kind === "exit" && end.code === 0)) {
    return new JobFailure("out_of_memory", `The module ran out of memory (${figures}) and ${how}${said}`);
  }
  return new JobFailure("cargo_failed", `The module ${how} (memory ${figures})${said}`);
}

function howItEnded(end: Exclude<GuestEnd, { kind: "unusable" }>): string {
  if (end.kind === "trap") return `trapped: ${end.message}`;
  return end.code === 0 ? "ended without a last word (done or error)" : `ended with code ${end.code}`;
}
