import { z } from "zod";
import { JOB_ERROR_CODES } from "../../../shared/errors.ts";
import { jsonValueSchema } from "../../../shared/json-value.ts";
import {
  FINISH_REASONS,
  isTokenItem,
  MAX_STOP_CHARS,
  type OutputItem,
  outputItemSchema,
  promptSchema,
  phasesSchema,
  usageSchema,
} from "../../../shared/output.ts";
import type { RunRequest } from "../runtime.ts";

/** One job for a host process. `job` is the result of the runtime's `readInput`. */
export interface HostRun<Job> {
  readonly job: Job;
  readonly resume: RunRequest["resume"];
  readonly cacheKey: RunRequest["cacheKey"];
}

/** Messages from the agent to a host process. The agent chooses `run`, unique within the process. */
export type ToHost<ProbeRequest, LoadRequest, Job> =
  | { readonly kind: "probe"; readonly request: ProbeRequest }
  /** Requests the memory that the same `load` would take. */
  | { readonly kind: "estimate"; readonly request: LoadRequest }
  | { readonly kind: "load"; readonly request: LoadRequest }
  | ({ readonly kind: "run"; readonly run: number } & HostRun<Job>)
  | { readonly kind: "abort"; readonly run: number }
  /** Requests to free all memory and exit. */
  | { readonly kind: "end" };

/** Output of one run from one tick of the host's event loop. */
export interface RunOutput {
  readonly run: number;
  readonly items: readonly OutputItem[];
}

const run = z.int().positive();
const bytes = z.number().nonnegative();
const memory = z.object({ ramBytes: bytes, vramBytes: bytes });
const error = z.object({ code: z.enum(JOB_ERROR_CODES), message: z.string(), retryable: z.boolean() });

/** Schema of all messages except `output`, which arrives with each token and is checked by hand. */
const fromHostSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("probed"),
    result: z.discriminatedUnion("usable", [
      z.object({ usable: z.literal(true), version: z.string() }),
      z.object({ usable: z.literal(false), reason: z.string(), isFinal: z.boolean().exactOptional() }),
    ]),
  }),
  z.object({ kind: z.literal("estimated"), memory }),
  /** `facts` are for the log. */
  z.object({ kind: z.literal("loaded"), memory, facts: z.record(z.string(), z.unknown()) }),
  /** The estimate or the load failed. */
  z.object({ kind: z.literal("refused"), error }),
  /** Progress of a run's prompt, which implies `working`. */
  z.object({ kind: z.literal("prompt"), run, prompt: promptSchema }),
  z.object({
    kind: z.literal("finished"),
    run,
    result: z.object({
      output: jsonValueSchema.exactOptional(),
      finishReason: z.enum(FINISH_REASONS),
      stopSequence: z.string().min(1).max(MAX_STOP_CHARS).exactOptional(),
      usage: usageSchema,
      phases: phasesSchema.exactOptional(),
    }),
    memory,
  }),
  z.object({ kind: z.literal("failed"), run, error }),
  z.object({ kind: z.literal("aborted"), run }),
  /** Progress of a run without output, sent at most once a second. */
  z.object({ kind: z.literal("working"), run }),
]);

/** Messages from a host process. Each `run` ends with exactly one of `finished`, `failed` and `aborted`. */
export type FromHost =
  | z.infer<typeof fromHostSchema>
  | { readonly kind: "output"; readonly outputs: readonly RunOutput[] };

/**
 * Validates a message of a host process; null when invalid. The host is not trusted, because its native code may have
 * been exploited or may have corrupted its heap.
 */
export function readFromHost(message: unknown): FromHost | null {
  if (isRecord(message) && message["kind"] === "output") {
    const { outputs } = message;
    return Array.isArray(outputs) && outputs.every(isRunOutput) ? { kind: "output", outputs } : null;
  }
  return fromHostSchema.safeParse(message).data ?? null;
}

function isRunOutput(value: unknown): value is RunOutput {
  if (!isRecord(value)) return false;
  const { run, items } = value;
  return Number.isSafeInteger(run) && Array.isArray(items) && items.every(isItem);
}

function isItem(value: unknown): value is OutputItem {
  return isTokenItem(value) || outputItemSchema.safeParse(value).success;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
