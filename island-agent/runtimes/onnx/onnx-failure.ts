import { JobFailure, type JobErrorCode } from "../../../shared/errors.ts";

/** ONNX Runtime and V8 have no codes for want of memory, only words. */
const NO_MEMORY = /Failed to allocate memory|bad_alloc|Array buffer allocation failed|Invalid typed array length/;
/** A size that no integer holds. */
const TOO_LARGE_TO_COUNT = /Integer overflow/;
/** How much it asked for. */
const REQUESTED_BYTES = /requested buffer of size (\d+)/;
/** No machine has more: what asks for it asks for nonsense. */
const BEYOND_ANY_MACHINE = 2 ** 40;
/** Where in ONNX Runtime's own sources it happened. */
const SOURCE_PLACE = /\/onnxruntime_src\/\S+ /g;

/**
 * What a native package or a file threw, as a job's failure: `otherwise`, unless the cause is memory or the disk, which other Islands
 * may have. The place of the model on this host is nobody's business and left out.
 */
export function onnxFailure(otherwise: JobErrorCode, what: string, cause: unknown, modelPath: string): JobFailure {
  if (cause instanceof JobFailure) return cause;
  const why = (cause instanceof Error ? cause.message : String(cause))
    .replaceAll(`${modelPath}/`, "")
    .replaceAll(modelPath, "the model")
    .replaceAll(SOURCE_PLACE, "")
    .trim();
  const code = codeOf(cause, why) ?? otherwise;
  const retryable = code === "out_of_memory" || code === "model_unavailable";
  return new JobFailure(code, `${what}: ${why}`, { retryable, cause });
}

/** Whether a run asked for so much that later ones of its session fail too: its arena doubles what it asks for, also in vain (1.30). */
export function hasSpoiltMemory(cause: unknown): boolean {
  return cause instanceof Error && (NO_MEMORY.test(cause.message) || TOO_LARGE_TO_COUNT.test(cause.message));
}

function codeOf(cause: unknown, why: string): JobErrorCode | undefined {
  if (NO_MEMORY.test(why))
    return Number(REQUESTED_BYTES.exec(why)?.[1] ?? 0) > BEYOND_ANY_MACHINE ? undefined : "out_of_memory";
  // An error of the file system has a number too; the libraries' own errors have none.
  if (cause instanceof Error && "errno" in cause) return "model_unavailable";
  return undefined;
}
