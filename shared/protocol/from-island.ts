import { z } from "zod";
import { RUNTIME_TYPES } from "../cargo.ts";
import { JOB_ERROR_CODES } from "../errors.ts";
import { hardwareSchema } from "../hardware.ts";
import { jsonValueSchema } from "../json-value.ts";
import { FINISH_REASONS, outputItemSchema, timingsSchema, usageSchema } from "../output.ts";

const slug = z.string().max(100);
/** Names one attempt of one job. Frames of a superseded attempt are dropped (fencing). */
const attemptFields = { jobId: z.string().max(64), attempt: z.number().int().positive() };
/** Frames that must not be lost carry `seq`, 1 and up without gaps per attempt, and are kept until acknowledged. */
const seq = z.number().int().positive();

export const runtimeReportSchema = z.object({
  type: z.enum(RUNTIME_TYPES),
  version: z.string().max(100),
});
export type RuntimeReport = z.infer<typeof runtimeReportSchema>;

/** A model or image on the Island's disk; `key` as `cacheKeyOf()` makes it. */
export const cachedModelSchema = z.object({ key: z.string().max(2_010), bytes: z.number().int().nonnegative() });

/** A job that the Island still holds after a reconnect. `started`: its run began (the `started` frame may have been lost). */
export const heldJobSchema = z.object({
  ...attemptFields,
  /** As `assign` gave it: proves that the attempt is this Island's, also to a coordinator that was restarted. */
  claim: z.string().max(64),
  started: z.boolean(),
});
export type HeldJob = z.infer<typeof heldJobSchema>;

/** What changes while an Island runs; sent with `hello` and every heartbeat. */
export const islandStateSchema = z.object({
  /** 0 to 1, over all cores; null where the platform does not tell. */
  cpuLoad: z.number().min(0).max(1).nullable(),
  freeRamBytes: z.number().int().nonnegative().nullable(),
  freeVramBytes: z.number().int().nonnegative().nullable(),
  cachedModels: z.array(cachedModelSchema).max(10_000),
  /** Cargos whose model is in memory now. */
  loaded: z.array(slug).max(1_000),
  /** Models on their way, `fraction` 0 to 1 or null when the size is unknown. */
  downloads: z.array(z.object({ slug, fraction: z.number().min(0).max(1).nullable() })).max(1_000),
});
export type IslandState = z.infer<typeof islandStateSchema>;

const hello = z.object({
  type: z.literal("hello"),
  hostId: z.uuid(),
  agentVersion: z.string().max(50),
  hardware: hardwareSchema,
  runtimes: z.array(runtimeReportSchema).max(20),
  /** Jobs that the Island runs at once, all Cargos together. */
  slots: z.number().int().min(1).max(1_000),
  draining: z.boolean(),
  held: z.array(heldJobSchema).max(10_000),
  state: islandStateSchema,
});

const heartbeat = z.object({ type: z.literal("heartbeat"), state: islandStateSchema });
/** The Island has the job; it may wait a moment for a run that is being stopped. */
const accepted = z.object({ type: z.literal("accepted"), ...attemptFields });
/** The Island will not run the job; nothing was done. */
const refused = z.object({
  type: z.literal("refused"),
  ...attemptFields,
  code: z.enum(JOB_ERROR_CODES),
  message: z.string().max(2_000),
});
/** The model is in memory and the run begins. */
const started = z.object({ type: z.literal("started"), ...attemptFields });
const output = z.object({
  type: z.literal("output"),
  ...attemptFields,
  seq,
  items: z.array(outputItemSchema).min(1).max(10_000),
});
/** `output`: the JSON value of Cargos that make one; absent for text, which is the tokens delivered. */
const finished = z.object({
  type: z.literal("finished"),
  ...attemptFields,
  seq,
  output: jsonValueSchema.optional(),
  finishReason: z.enum(FINISH_REASONS),
  usage: usageSchema,
  timings: timingsSchema,
});
const failed = z.object({
  type: z.literal("failed"),
  ...attemptFields,
  seq,
  code: z.enum(JOB_ERROR_CODES),
  message: z.string().max(2_000),
  retryable: z.boolean(),
});
/** Answers `cancel`: the work has stopped and the slot is free. */
const cancelled = z.object({ type: z.literal("cancelled"), ...attemptFields, seq });
/** No new jobs, please; those in hand are being finished. */
const draining = z.object({ type: z.literal("draining") });
/** Takes back `draining`: new jobs are welcome again. */
const accepting = z.object({ type: z.literal("accepting") });
/** The Island would have these Cargos on its disk; each that it may run is answered by `preload`, best first. */
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
  draining,
  accepting,
  wanted,
]);
export type FromIsland = z.infer<typeof fromIslandSchema>;
export type Hello = z.infer<typeof hello>;
/** Frames that are resent after a reconnect until the coordinator acknowledges their `seq`. */
export type NumberedFrame = Extract<FromIsland, { seq: number }>;
