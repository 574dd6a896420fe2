import { z } from "zod";
import { cargoManifestSchema, type CargoManifest } from "../cargo.ts";
import { JOB_ERROR_CODES } from "../errors.ts";
import { featuresSchema } from "../features/features.ts";
import { jobFilesSchema } from "../job-files.ts";

const attemptFields = { jobId: z.string().max(64), attempt: z.number().int().positive() };

/** Decision about a job in `held`. `drop`: stop and forget the job, because it has ended or another Island runs it. */
const heldDecision = z.discriminatedUnion("action", [
  z.object({ ...attemptFields, action: z.literal("continue"), ackedSeq: z.number().int().nonnegative() }),
  z.object({ ...attemptFields, action: z.literal("drop") }),
]);
export type HeldDecision = z.infer<typeof heldDecision>;

/**
 * Quarantine of an Island on which several jobs in a row failed. The Island gets no jobs for a time, and then one at a
 * time until one succeeds.
 */
const quarantineNotice = z.object({
  /** Number of failed jobs since the most recent success. */
  inARow: z.number().int().positive(),
  /** Remaining time; 0 while the Island is being probed. */
  forMs: z.number().int().nonnegative(),
  /** Error code of the job that failed most recently. */
  lastCode: z.enum(JOB_ERROR_CODES),
});
export type QuarantineNotice = z.infer<typeof quarantineNotice>;
/**
 * Quarantine of the Island; null if it is not quarantined, absent if this is unchanged. An invalid value is ignored, so
 * that it does not end the session.
 */
const quarantine = quarantineNotice.nullable().optional().catch(undefined);

/** Feature of a coordinator that accepts `outputs`. */
export const OUTPUTS_FEATURE = "outputs";

const welcome = z.object({
  type: z.literal("welcome"),
  sessionId: z.string().max(64),
  heartbeatMs: z.number().int().positive(),
  maxFrameBytes: z.number().int().positive(),
  /** One decision for each job in `held` of `hello`. */
  held: z.array(heldDecision),
  quarantine,
  /** Features of the coordinator beyond the first version of the protocol. Ignored if invalid. */
  features: featuresSchema.optional().catch(undefined),
});

/**
 * Manifest exactly as it was sent. Parsing must not remove unknown fields at any depth, because the signature covers
 * fields that only a later version knows.
 */
const signedCargoFields = {
  cargo: z.custom<CargoManifest>().superRefine((value, context) => {
    for (const { path, message } of cargoManifestSchema.safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: "custom", path, message });
    }
  }),
  /** Ed25519 signature of the manifest's `signedBytes()`, 64 bytes in base64. */
  signature: z.string().max(100),
  /** Signatures of other keys, which an Island's owner may require (`cargos.signed_by`). */
  endorsements: z
    .array(z.object({ publicKey: z.string().max(64), signature: z.string().max(100) }))
    .max(8)
    .optional(),
};

const assign = z.object({
  type: z.literal("assign"),
  ...attemptFields,
  /** Secret token of this attempt. The Island sends it again when it reconnects with the job. */
  claim: z.string().max(64),
  ...signedCargoFields,
  input: z.record(z.string(), z.unknown()),
  /**
   * Files that the input names, which the Island downloads before it runs the job. Absent if no files are named. Only
   * agents with the feature `files` receive them.
   */
  files: jobFilesSchema.optional(),
  /**
   * Key that is the same for all jobs of one account on this Island and that reveals nothing else. Data that a run
   * leaves in memory may only speed up runs with the same key, because the speed of a shared cache would reveal the
   * prompts of other accounts. Absent from older coordinators.
   */
  cacheKey: z.string().max(64).optional(),
  /** Time limit of the run, from `started`. A duration, because the two clocks may differ. */
  runLimitMs: z.number().int().positive(),
  /** Point at which to continue a text job that lost its Island: after `text`, which has `tokens` tokens. */
  resume: z.object({ text: z.string(), tokens: z.number().int().nonnegative() }).optional(),
});

const cancel = z.object({ type: z.literal("cancel"), ...attemptFields, reason: z.enum(["cancelled", "timeout"]) });
/** Acknowledges that frames of the attempt up to `seq` are durable, so that the Island can forget them. */
const ack = z.object({ type: z.literal("ack"), ...attemptFields, seq: z.number().int().positive(), quarantine });
const preload = z.object({ type: z.literal("preload"), ...signedCargoFields });
/**
 * Announces that the coordinator closes the session. If `retryAfterMs` is null, the Island must not reconnect
 * automatically.
 */
const goodbye = z.object({
  type: z.literal("goodbye"),
  reason: z.string().max(500),
  retryAfterMs: z.number().int().nonnegative().nullable(),
  /** Another coordinator that accepts the Island. Absent from older coordinators; ignored if invalid. */
  address: z.string().max(1_000).optional().catch(undefined),
});

export const fromCoordinatorSchema = z.discriminatedUnion("type", [welcome, assign, cancel, ack, preload, goodbye]);
export type FromCoordinator = z.infer<typeof fromCoordinatorSchema>;
export type Assign = z.infer<typeof assign>;
export type Welcome = z.infer<typeof welcome>;
