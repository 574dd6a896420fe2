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
/** Name one attempt of one job. The coordinator drops frames of a superseded attempt (fencing). */
const attemptFields = { jobId: z.string().max(64), attempt: z.number().int().positive() };
/** Number of a frame that must not be lost: 1, 2, 3 … in each attempt. The Island keeps such frames until an `ack`. */
const seq = z.number().int().positive();

const runtimeReportSchema = z.object({
  type: z.enum(RUNTIME_TYPES),
  version: z.string().max(100),
});
export type RuntimeReport = z.infer<typeof runtimeReportSchema>;

const bytes = z.number().int().nonnegative();
/** A model or image on the Island's disk. `key`: from `cacheKeyOf()`. */
const cachedModelSchema = z.object({ key: z.string().max(2_010), bytes });

/** Codes that the first version of the protocol lacks, each with the nearest one that it has. */
const LATER_CODES: Partial<Record<JobErrorCode, JobErrorCode>> = { disk_full: "model_unavailable" };
const codeFields = {
  code: z.enum(JOB_ERROR_CODES),
  /** The code, if older coordinators do not know it: `code` is the nearest one that they do. Ignored if it is not understood. */
  exactCode: z.enum(JOB_ERROR_CODES).optional().catch(undefined),
};

/** The members of a frame that say a code. */
export function codeMembers(code: JobErrorCode): { code: JobErrorCode; exactCode?: JobErrorCode } {
  const nearest = LATER_CODES[code];
  return nearest === undefined ? { code } : { code: nearest, exactCode: code };
}

/** A job that the Island still has after a reconnect. `started`: its run began, even if the `started` frame was lost. */
const heldJobSchema = z.object({
  ...attemptFields,
  /** From `assign`. Proves that the attempt belongs to this Island, also after a restart of the coordinator. */
  claim: z.string().max(64),
  started: z.boolean(),
});
export type HeldJob = z.infer<typeof heldJobSchema>;

/** Longest list of Cargos that lack disk space. */
export const MAX_NO_SPACE_FOR = 100;
/** A download in progress. `fraction`: 0 to 1, or null when the size is unknown. Agents of earlier versions report only `slug` and it. */
export const downloadSchema = z.object({
  slug,
  fraction: z.number().min(0).max(1).nullable(),
  receivedBytes: bytes.optional(),
  totalBytes: bytes.nullable().optional(),
  /** Speed over the last seconds; null: not known yet. */
  bytesPerSecond: bytes.nullable().optional(),
});

/** State that changes while an Island runs; sent with `hello` and every heartbeat. */
const islandStateSchema = z.object({
  /** 0 to 1, over all cores; null where the platform does not report it. */
  cpuLoad: z.number().min(0).max(1).nullable(),
  freeRamBytes: z.number().int().nonnegative().nullable(),
  freeVramBytes: z.number().int().nonnegative().nullable(),
  /** °C of its hottest processor or graphics card; null: not known. Absent in agents of earlier versions. */
  temperatureC: z.number().min(-100).max(300).nullable().optional(),
  /** 0 to 1, of its busiest graphics card; null: not known. Absent in agents of earlier versions. */
  gpuLoad: z.number().min(0).max(1).nullable().optional(),
  cachedModels: z.array(cachedModelSchema).max(10_000),
  /** Cargos whose model is in memory now. */
  loaded: z.array(slug).max(1_000),
  downloads: z.array(downloadSchema).max(1_000),
  /** Cargos whose files are on disk and whose model is on its way into memory. Absent in agents of earlier versions. */
  loading: z.array(slug).max(1_000).optional(),
  /**
   * Cargos that the Island refused, or failed to fetch, for lack of disk space, and which still would not fit. Absent in agents of earlier
   * versions.
   */
  noSpaceFor: z.array(slug).max(MAX_NO_SPACE_FOR).optional(),
  /** `count` changes while the download, the load or the run of an attempt makes progress. Absent: the agent does not tell. */
  working: z
    .array(z.object({ ...attemptFields, count: z.number().nonnegative() }))
    .max(1_000)
    .optional(),
});
export type IslandState = z.infer<typeof islandStateSchema>;

const hello = z.object({
  type: z.literal("hello"),
  hostId: z.uuid(),
  agentVersion: z.string().max(50),
  /** Name of the machine, for its owner. Absent in agents of earlier versions. */
  hostName: z.string().max(253).optional(),
  hardware: hardwareSchema,
  runtimes: z.array(runtimeReportSchema).max(20),
  /** Jobs that the Island runs at the same time, over all Cargos. */
  slots: z.number().int().min(1).max(1_000),
  draining: z.boolean(),
  held: z.array(heldJobSchema).max(10_000),
  state: islandStateSchema,
  /** Absent in agents of earlier versions, whose owners cannot refuse anything. */
  policy: ownerPolicySchema.optional(),
  /** What the agent can do beyond the first version of the protocol. Absent in agents of earlier versions. */
  features: featuresSchema.optional(),
});

const heartbeat = z.object({ type: z.literal("heartbeat"), state: islandStateSchema });
/** The Island has the job; it may first wait for another run to stop. */
const accepted = z.object({ type: z.literal("accepted"), ...attemptFields });
/** The Island does not run the job and has done nothing for it. */
const refused = z.object({
  type: z.literal("refused"),
  ...attemptFields,
  ...codeFields,
  message: z.string().max(2_000),
});
/**
 * The model is in memory and the run begins. Sent again while the prompt is read, with `prompt`: its tokens, and how many of them are
 * read. An agent that does not say it is not paid for a prompt whose answer never came.
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
/** `output`: the JSON value that the Cargo produced; absent for text, which was delivered as tokens. */
const finished = z.object({
  type: z.literal("finished"),
  ...attemptFields,
  seq,
  output: jsonValueSchema.optional(),
  finishReason: z.enum(FINISH_REASONS),
  /** Of the chat's `stop`, the one that ended the text. An agent that does not say it ended it all the same. */
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
/** The answer to `cancel`: the run has stopped and the slot is free. */
const cancelled = z.object({ type: z.literal("cancelled"), ...attemptFields, seq });
/** From agents of earlier versions, about input that running jobs were sent. Ignored. */
const taken = z.object({ type: z.literal("taken") });
/** The Island takes no new jobs and finishes those that it has. */
const draining = z.object({ type: z.literal("draining") });
/** The Island takes new jobs again, after `draining`. */
const accepting = z.object({ type: z.literal("accepting") });
/** Asks for these Cargos, best first, to store them on disk. The coordinator answers with `preload` for each that the Island may run. */
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
/** Frames that the Island resends after a reconnect until the coordinator acknowledges their `seq`. */
export type NumberedFrame = Extract<FromIsland, { seq: number }>;
