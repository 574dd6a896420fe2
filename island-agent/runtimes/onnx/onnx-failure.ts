import { JobFailure, type JobErrorCode } from "../../../shared/errors.ts";

/** Messages of a failed allocation. ONNX Runtime and V8 have no error codes for it. */
const NO_MEMORY = /Failed to allocate memory|bad_alloc|Array buffer allocation failed|Invalid typed array length/;
const TOO_LARGE_TO_COUNT = /Integer overflow/;
const REQUESTED_BYTES = /requested buffer of size (\d+)/;
/** Memory size above that of any machine: a larger request is caused by a broken model or input. */
const BEYOND_ANY_MACHINE = 2 ** 40;
/** Path in ONNX Runtime's sources, removed from messages. */
const SOURCE_PATH = /\/onnxruntime_src\/\S+ /g;

/**
 * Converts an error of a native package or the file system to a job's failure with the code `otherwise`. It is
 * retryable when the cause is this Island's memory or disk. Removes the model's path on this host from the message.
 */
export function onnxFailure(otherwise: JobErrorCode, what: string, cause: unknown, modelPath: string): JobFailure {
  if (cause instanceof JobFailure) return cause;
  const why = (cause instanceof Error ? cause.message : String(cause))
    .replaceAll(`${modelPath}/`, "")
    .replaceAll(modelPath, "the model")
    .replaceAll(SOURCE_PATH, "")
    .trim();
  const code = codeOf(cause, why) ?? otherwise;
  const retryable = code === "out_of_memory" || code === "model_unavailable";
  return new JobFailure(code, `${what}: ${why}`, { retryable, cause });
}

/**
 * Returns true for an allocation failure after which later runs of the session fail too: its arena doubles each
 * request, even a failed one (1.30).
 */
export function breaksSession(cause: unknown): boolean {
  return cause instanceof Error && (NO_MEMORY.test(cause.message) || TOO_LARGE_TO_COUNT.test(cause.message));
}

function codeOf(cause: unknown, why: string): JobErrorCode | undefined {
  if (NO_MEMORY.test(why))
    return Number(REQUESTED_BYTES.exec(why)?.[1] ?? 0) > BEYOND_ANY_MACHINE ? undefined : "out_of_memory";
  // Only file system errors have an `errno`.
  if (cause instanceof Error && "errno" in cause) return "model_unavailable";
  return undefined;
}
