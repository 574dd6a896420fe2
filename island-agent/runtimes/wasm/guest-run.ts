import type { Worker } from "node:worker_threads";
import { JobFailure } from "../../../shared/errors.ts";
import { formatMibRoundedDown, MIB } from "../../../shared/format-bytes.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { JsonLineReader, type FinalLine } from "../json-lines.ts";
import { OutputTail } from "../output-tail.ts";
import type { RunResult } from "../runtime.ts";
import type { FromGuest, GuestEnd, GuestMemory, GuestRequest } from "./guest-messages.ts";
import { confirmRead } from "./guest-output.ts";

/** Bytes kept from the end of a guest's error output. */
const STDERR_KEPT_BYTES = 2_048;
/** Share of the memory cap above which a failed guest counts as out of memory. */
const OUT_OF_MEMORY_SHARE = 0.9;

type Ended = Pick<Extract<FromGuest, { kind: "ended" }>, "end" | "memory">;

/**
 * Runs one job in `thread` and then terminates the thread. The job ends at the guest's `done` or `error` line, or with
 * the guest. Aborting stops it immediately, even in an endless loop.
 * @throws {JobFailure} or `signal.reason`.
 */
export async function runGuest(
  thread: Worker,
  request: Omit<GuestRequest, "inFlight">,
  memoryCapBytes: number,
  onOutput: (item: OutputItem) => void,
  signal: AbortSignal,
): Promise<RunResult> {
  const reader = new JsonLineReader(onOutput);
  const errors = new OutputTail(STDERR_KEPT_BYTES);
  try {
    const ended = await exchange(thread, request, reader, errors, signal);
    const last = reader.finalLine ?? reader.end();
    if (last !== null) return resultOf(last, reader.tokens);
    throw failureOf(ended, memoryCapBytes, errors.text());
  } finally {
    await thread.terminate();
  }
}

/** Resolves to null when the `done` or `error` line came before the guest's end. */
async function exchange(
  thread: Worker,
  request: Omit<GuestRequest, "inFlight">,
  reader: JsonLineReader,
  errors: OutputTail,
  signal: AbortSignal,
): Promise<Ended | null> {
  const inFlight = new Int32Array(new SharedArrayBuffer(4));
  const { promise, resolve, reject } = Promise.withResolvers<Ended | null>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  thread.once("error", (error) => reject(threadFailure(error)));
  thread.once("exit", () => reject(threadFailure(new Error("it exited unexpectedly"))));
  thread.on("message", (message: FromGuest) => {
    if (message.kind === "ended") return resolve(message);
    confirmRead(inFlight);
    try {
      if (message.fd === 2) errors.push(message.bytes);
      else reader.push(message.bytes);
      if (reader.finalLine !== null) resolve(null);
    } catch (error) {
      reject(error);
    }
  });
  thread.postMessage({ ...request, inFlight } satisfies GuestRequest);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function resultOf(last: FinalLine, tokens: number): RunResult {
  if (last.kind === "error") throw last.failure;
  const usage = { promptTokens: 0, completionTokens: tokens };
  return { finishReason: "stop", usage, ...(last.output === undefined ? {} : { output: last.output }) };
}

/** Returns the failure of a guest that ended without a `done` or `error` line. */
function failureOf(ended: Ended | null, capBytes: number, stderrTail: string): JobFailure {
  if (ended === null) return new JobFailure("internal", "The WebAssembly host lost the module's final line");
  const { end, memory } = ended;
  if (end.kind === "unusable") return new JobFailure("model_invalid", `The module cannot be run: ${end.message}`);
  const memoryUse = `${Math.ceil(memory.lastBytes / MIB)} of ${formatMibRoundedDown(capBytes)}`;
  if (hasRunOut(end, memory, capBytes)) {
    return new JobFailure("out_of_memory", `The module ran out of memory (${memoryUse}) and ${howItEnded(end)}`);
  }
  const stderr = stderrTail === "" ? "" : `; its standard error ends with: ${stderrTail}`;
  return new JobFailure("cargo_failed", `The module ${howItEnded(end)} (memory ${memoryUse})${stderr}`);
}

function hasRunOut(end: GuestEnd, { firstBytes, lastBytes }: GuestMemory, capBytes: number): boolean {
  const endedWell = end.kind === "exit" && end.code === 0;
  return !endedWell && lastBytes > firstBytes && lastBytes >= capBytes * OUT_OF_MEMORY_SHARE;
}

function howItEnded(end: Exclude<GuestEnd, { kind: "unusable" }>): string {
  if (end.kind === "trap") return `trapped: ${end.message}`;
  return end.code === 0 ? "ended without a `done` or `error` line" : `ended with code ${end.code}`;
}

/** Returns the failure of the thread itself. Either its JavaScript heap was full, or our code has a bug. */
function threadFailure(error: Error): JobFailure {
  if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return new JobFailure("out_of_memory", "The module filled the JavaScript heap outside of its own memory");
  }
  return new JobFailure("internal", `The module's thread failed: ${error.message}`, { retryable: true });
}
