import type { Worker } from "node:worker_threads";
import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { JsonLineReader, type LastWord } from "../json-lines.ts";
import { OutputTail } from "../output-tail.ts";
import type { RunResult } from "../runtime.ts";
import type { FromGuest, GuestEnd, GuestMemory, GuestOrder } from "./guest-messages.ts";
import { noteTaken } from "./guest-output.ts";

/** Most of a guest's error output that is kept, its end. */
const STDERR_KEPT_BYTES = 2_048;
/** A guest whose memory grew to so much of what it may have, and that ends badly, has run out of it. */
const NEARLY_ALL = 0.9;
const MIB = 1_048_576;

type Ended = Pick<Extract<FromGuest, { kind: "ended" }>, "end" | "memory">;

/**
 * Runs one job in `thread`, which is ended whatever happens. It is over with the guest's last word (`done` or `error`), or
 * with its end. Aborting ends it at once, also amid an endless loop.
 * @throws {JobFailure} or `signal.reason`.
 */
export async function runGuest(
  thread: Worker,
  order: Omit<GuestOrder, "onTheWay">,
  memoryCapBytes: number,
  onOutput: (item: OutputItem) => void,
  signal: AbortSignal,
): Promise<RunResult> {
  const reader = new JsonLineReader(onOutput);
  const errors = new OutputTail(STDERR_KEPT_BYTES);
  try {
    const ended = await talk(thread, order, reader, errors, signal);
    const last = reader.lastWord ?? reader.end();
    if (last !== null) return resultOf(last, reader.tokens);
    throw failureOf(ended, memoryCapBytes, errors.text());
  } finally {
    await thread.terminate();
  }
}

/** Null: the last word was heard before the guest's end. */
async function talk(
  thread: Worker,
  order: Omit<GuestOrder, "onTheWay">,
  reader: JsonLineReader,
  errors: OutputTail,
  signal: AbortSignal,
): Promise<Ended | null> {
  const onTheWay = new Int32Array(new SharedArrayBuffer(4));
  const { promise, resolve, reject } = Promise.withResolvers<Ended | null>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  thread.once("error", (error) => reject(threadFailure(error)));
  thread.once("exit", () => reject(threadFailure(new Error("it ended without a word"))));
  thread.on("message", (message: FromGuest) => {
    if (message.kind === "ended") return resolve(message);
    noteTaken(onTheWay);
    try {
      if (message.fd === 2) errors.push(message.bytes);
      else reader.push(message.bytes);
      if (reader.lastWord !== null) resolve(null);
    } catch (error) {
      reject(error);
    }
  });
  thread.postMessage({ ...order, onTheWay } satisfies GuestOrder);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function resultOf(last: LastWord, tokens: number): RunResult {
  if (last.kind === "error") throw last.failure;
  const usage = { promptTokens: 0, completionTokens: tokens };
  return { finishReason: "stop", usage, ...(last.output === undefined ? {} : { output: last.output }) };
}

/** Why a guest that said nothing at its end failed. */
function failureOf(ended: Ended | null, capBytes: number, stderrTail: string): JobFailure {
  if (ended === null) return new JobFailure("internal", "The WebAssembly host lost the module's last word");
  const { end, memory } = ended;
  if (end.kind === "unusable") return new JobFailure("model_invalid", `The module cannot be run: ${end.message}`);
  const figures = `${Math.ceil(memory.lastBytes / MIB)} of ${Math.floor(capBytes / MIB)} MiB`;
  if (hasRunOut(end, memory, capBytes)) {
    return new JobFailure("out_of_memory", `The module ran out of memory (${figures}) and ${howItEnded(end)}`);
  }
  const said = stderrTail === "" ? "" : `; it wrote: ${stderrTail}`;
  return new JobFailure("cargo_failed", `The module ${howItEnded(end)} (memory ${figures})${said}`);
}

function hasRunOut(end: GuestEnd, { firstBytes, lastBytes }: GuestMemory, capBytes: number): boolean {
  const endedWell = end.kind === "exit" && end.code === 0;
  return !endedWell && lastBytes > firstBytes && lastBytes >= capBytes * NEARLY_ALL;
}

function howItEnded(end: Exclude<GuestEnd, { kind: "unusable" }>): string {
  if (end.kind === "trap") return `trapped: ${end.message}`;
  return end.code === 0 ? "ended without a last word (done or error)" : `ended with code ${end.code}`;
}

/** The thread itself failed: its heap was full, or something of ours went wrong. */
function threadFailure(error: Error): JobFailure {
  if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return new JobFailure("out_of_memory", "The module made more objects outside of its memory than it may");
  }
  return new JobFailure("internal", `The module's thread failed: ${error.message}`, { retryable: true });
}
