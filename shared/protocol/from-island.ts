import { z } from "zod";
import { RUNTIME_TYPES } from "../cargo.ts";
import { JOB_ERROR_CODES, type JobErrorCode } from "../errors.ts";
import { featuresSchema } from "../features/features.ts";
import { hardwareSchema } from "../hardware.ts";
import { jsonValueSchema } from "../json-value.ts";
import { ownerPolicySchema } from "../owner-policy.ts";
import {
  FINISH_REASONS,
  MAX_STOP_CHARS,
  outputItemSchema,
  promptSchema,
  timingsSchema,
  usageSchema,
} from "../output.ts";

const slug = z.string().max(100);
/** Identifies one attempt of one job. The coordinator drops frames of a superseded attempt (fencing). */
const attemptFields = { jobId: z.string().max(64), attempt: z.number().int().positive() };
/**
 * Sequence number of a frame that must not be lost: 1, 2, 3 … per attempt. The Island keeps the frame until an `ack`.
 */
const seq = z.number().int().positive();

const runtimeReportSchema = z.object({
  type: z.enum(RUNTIME_TYPES),
  version: z.string().max(100),
});
export type RuntimeReport = z.infer<typeof runtimeReportSchema>;

const bytes = z.number().int().nonnegative();
/** Model or image on the Island's disk. `key` comes from `cacheKeyOf()`. */
const cachedModelSchema = z.object({ key: z.string().max(2_010), bytes });

/** Codes that the first version of the protocol does not know, each with the nearest code that it knows. */
const LATER_CODES: Partial<Record<JobErrorCode, JobErrorCode>> = { disk_full: "model_unavailable" };
const codeFields = {
  code: z.enum(JOB_ERROR_CODES),
  /** The exact code if older coordinators do not know it; `code` is then the nearest known code. Ignored if invalid. */
  exactCode: z.enum(JOB_ERROR_CODES).optional().catch(undefined),
};

/** Returns the frame members for an error code. */
export function codeMembers(code: JobErrorCode): { code: JobErrorCode; exactCode?: JobErrorCode } {
  const nearest = LATER_CODES[code];
  return nearest === undefined ? { code } : { code: nearest, exactCode: code };
}

/**
 * Job that the Island still holds after a reconnect. `started` is true if its run started, even if the `started` frame
 * was lost.
 */
const heldJobSchema = z.object({
  ...attemptFields,
  /** Attempt token from `assign`, which proves that the attempt is this Island's, even after a restart. */
  claim: z.string().max(64),
  started: z.boolean(),
});
export type HeldJob = z.infer<typeof heldJobSchema>;

/** Maximum number of Cargos in the list of Cargos that do not fit on the disk. */
export const MAX_NO_SPACE_FOR = 100;
/**
 * Download in progress. `fraction`: 0 to 1, or null if the size is unknown. Agents of earlier versions report only
 * `slug` and `fraction`.
 */
export const downloadSchema = z.object({
  slug,
  fraction: z.number().min(0).max(1).nullable(),
  receivedBytes: bytes.optional(),
  totalBytes: bytes.nullable().optional(),
  /** Speed over the most recent seconds; null if it is not known yet. */
  bytesPerSecond: bytes.nullable().optional(),
});

/** Maximum number of models of engines. */
export const MAX_ENGINE_MODELS = 200;
/** Model that an engine of the host serves now, so the Island runs its Cargos whatever its runtimes and memory are. */
export const engineModelSchema = z.object({
  /** Key from `cacheKeyOf()`, or `engine:NAME` if nothing proves what the model is. */
  key: z.string().max(2_010),
  /** Names from `features` for the jobs that the engine can run. Those of `hello` do not apply to it. */
  features: featuresSchema,
  /** Tokens of context of one run; null if the engine does not report them. */
  contextTokens: z.number().int().positive().nullable(),
  /** Maximum number of concurrent jobs of the model; 0 while other clients of the engine use all its slots. */
  slots: z.number().int().min(0).max(1_000),
  parameters: z.string().max(50).nullable(),
  quantization: z.string().max(50).nullable(),
});
export type EngineModelReport = z.infer<typeof engineModelSchema>;

/** State that changes while an Island runs; sent with `hello` and every heartbeat. */
const islandStateSchema = z.object({
  /** Load over all cores, 0 to 1; null if the platform does not report it. */
  cpuLoad: z.number().min(0).max(1).nullable(),
  freeRamBytes: z.number().int().nonnegative().nullable(),
  freeVramBytes: z.number().int().nonnegative().nullable(),
  /** °C of the hottest processor or graphics card; null if unknown. Absent in agents of earlier versions. */
  temperatureC: z.number().min(-100).max(300).nullable().optional(),
  /** Load of the busiest graphics card, 0 to 1; null if unknown. Absent in agents of earlier versions. */
  gpuLoad: z.number().min(0).max(1).nullable().optional(),
  cachedModels: z.array(cachedModelSchema).max(10_000),
  /** Cargos whose model is in memory now. */
  loaded: z.array(slug).max(1_000),
  downloads: z.array(downloadSchema).max(1_000),
  /** Cargos that are being loaded into memory. Absent in agents of earlier versions. */
  loading: z.array(slug).max(1_000).optional(),
  /**
   * Cargos that the Island refused or failed to download for lack of disk space, and that still would not fit. Absent
   * in agents of earlier versions.
   */
  noSpaceFor: z.array(slug).max(MAX_NO_SPACE_FOR).optional(),
  /** Models of the host's engines. Absent if the host lends none. */
  engineModels: z.array(engineModelSchema).max(MAX_ENGINE_MODELS).optional(),
  /** Attempts; `count` changes while download, load or run makes progress. Absent if the agent does not support it. */
  working: z
    .array(z.object({ ...attemptFields, count: z.number().nonnegative() }))
    .max(1_000)
    .optional(),
});
export type IslandState = z.infer<typeof islandStateSchema>;

/** Speed of the host as the doctor measured it. */
export const benchmarkSchema = z.object({
  /** Bytes of a language model that the host reads in 1 ms while it writes tokens. */
  modelBytesPerMs: z.number().min(1).max(1e8),
});
export type Benchmark = z.infer<typeof benchmarkSchema>;

const hello = z.object({
  type: z.literal("hello"),
  hostId: z.uuid(),
  agentVersion: z.string().max(50),
  /** Name of the machine, for its owner. Absent in agents of earlier versions. */
  hostName: z.string().max(253).optional(),
  hardware: hardwareSchema,
  runtimes: z.array(runtimeReportSchema).max(20),
  /** Maximum number of concurrent jobs, over all Cargos. */
  slots: z.number().int().min(1).max(1_000),
  /** Maximum number of concurrent jobs of the runtimes, without those of engines. Absent: `slots`. */
  runtimeSlots: z.number().int().min(1).max(1_000).optional(),
  draining: z.boolean(),
  held: z.array(heldJobSchema).max(10_000),
  state: islandStateSchema,
  /** Policy of the owner. Absent in agents of earlier versions, whose owners cannot refuse anything. */
  policy: ownerPolicySchema.optional(),
  /** Features of the agent beyond the first version of the protocol. Absent in agents of earlier versions. */
  features: featuresSchema.optional(),
  /** Absent if the doctor measured no large model. */
  benchmark: benchmarkSchema.optional(),
});

const heartbeat = z.object({ type: z.literal("heartbeat"), state: islandStateSchema });
/** The Island accepts the job. The run may first wait for another run to stop. */
const accepted = z.object({ type: z.literal("accepted"), ...attemptFields });
/** The Island does not run the job and has done nothing for it. */
const refused = z.object({
  type: z.literal("refused"),
  ...attemptFields,
  ...codeFields,
  message: z.string().max(2_000),
});
/**
 * The model is in memory and the run starts. Sent again while the prompt is read, with `prompt`: the number of its
 * tokens, and how many of them have been read. Without `prompt`, an Island is not paid for a prompt whose completion
 * never arrived.
 */
const started = z.object({
  type: z.literal("started"),
  ...attemptFields,
  prompt: promptSchema.optional(),
});
const output = z.object({
  type: z.literal("output"),
  ...attemptFields,
  seq,
  items: z.array(outputItemSchema).min(1).max(10_000),
});
/** End of a run. `output`: the JSON value that the Cargo produced; absent for text, which was delivered as tokens. */
const finished = z.object({
  type: z.literal("finished"),
  ...attemptFields,
  seq,
  output: jsonValueSchema.optional(),
  finishReason: z.enum(FINISH_REASONS),
  /** The stop sequence of the chat that ended the text. Agents may leave it out. */
  stopSequence: z.string().min(1).max(MAX_STOP_CHARS).optional(),
  usage: usageSchema,
  timings: timingsSchema,
});
const failed = z.object({
  type: z.literal("failed"),
  ...attemptFields,
  seq,
  ...codeFields,
  message: z.string().max(2_000),
  retryable: z.boolean(),
});
/** Reply to `cancel`: the run has stopped and the slot is free. */
const cancelled = z.object({ type: z.literal("cancelled"), ...attemptFields, seq });
/** Frame of agents of earlier versions about input that running jobs were sent. Ignored. */
const taken = z.object({ type: z.literal("taken") });
/** The Island accepts no new jobs, and finishes the jobs that it has. */
const draining = z.object({ type: z.literal("draining") });
/** The Island accepts new jobs again, after `draining`. */
const accepting = z.object({ type: z.literal("accepting") });
/** Requests these Cargos, best first. The coordinator replies with `preload` for each that may run. */
const wanted = z.object({ type: z.literal("wanted"), slugs: z.array(slug).min(1).max(20) });

export const fromIslandSchema = z.discriminatedUnion("type", [
  hello,
  heartbeat,
  accepted,
  refused,
  started,
  output,
  finished,
  failed,
  cancelled,
  taken,
  draining,
  accepting,
  wanted,
]);
export type FromIsland = z.infer<typeof fromIslandSchema>;
export type Hello = z.infer<typeof hello>;
/** Frame that the Island resends after a reconnect until the coordinator acknowledges its `seq`. */
export type NumberedFrame = Extract<FromIsland, { seq: number }>;
