import { z } from "zod";
import { cargoManifestSchema, type CargoManifest } from "../cargo.ts";
import { JOB_ERROR_CODES } from "../errors.ts";
import { jobFilesSchema } from "../job-files.ts";

const attemptFields = { jobId: z.string().max(64), attempt: z.number().int().positive() };

/** What an Island does with a job that it reported in `held`. `drop`: stop and forget it, because it ended or another Island has it. */
const heldDecision = z.discriminatedUnion("action", [
  z.object({ ...attemptFields, action: z.literal("continue"), ackedSeq: z.number().int().nonnegative() }),
  z.object({ ...attemptFields, action: z.literal("drop") }),
]);
export type HeldDecision = z.infer<typeof heldDecision>;

/** The Island let down several jobs in a row: it gets none for a while, then one at a time until one succeeds. */
const quarantineNotice = z.object({
  /** Jobs that it let down since the last one that succeeded. */
  inARow: z.number().int().positive(),
  /** What is left of it; 0 while the Island is tried again. */
  forMs: z.number().int().nonnegative(),
  /** Why the last of the jobs failed. */
  lastCode: z.enum(JOB_ERROR_CODES),
});
export type QuarantineNotice = z.infer<typeof quarantineNotice>;
/** Null: the Island is in no quarantine. Absent: nothing new. A notice that is not understood is no reason to end the session. */
const quarantine = quarantineNotice.nullable().optional().catch(undefined);

const welcome = z.object({
  type: z.literal("welcome"),
  sessionId: z.string().max(64),
  heartbeatMs: z.number().int().positive(),
  maxFrameBytes: z.number().int().positive(),
  /** One for each job in `held` of `hello`. */
  held: z.array(heldDecision),
  quarantine,
});

/**
 * A manifest exactly as it was sent. Parsing must not remove unknown fields at any depth, because the signature covers fields
 * that only a later version knows.
 */
const signedCargoFields = {
  cargo: z.custom<CargoManifest>().superRefine((value, context) => {
    for (const { path, message } of cargoManifestSchema.safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: "custom", path, message });
    }
  }),
  /** Ed25519 over `signedBytes()` of the manifest, 64 bytes in base64. */
  signature: z.string().max(100),
  /** Signatures of other keys, which an Island's owner may ask for (`cargos.signed_by`). */
  endorsements: z
    .array(z.object({ publicKey: z.string().max(64), signature: z.string().max(100) }))
    .max(8)
    .optional(),
};

const assign = z.object({
  type: z.literal("assign"),
  ...attemptFields,
  /** Secret of this attempt; the Island sends it again when it reconnects with the job. */
  claim: z.string().max(64),
  ...signedCargoFields,
  input: z.record(z.string(), z.unknown()),
  /** Files that the input names, which the Island fetches before it runs the job. Absent: none. Agents with the feature `files` alone get any. */
  files: jobFilesSchema.optional(),
  /**
   * Same for all jobs of one account on this Island, and tells nothing else. What a run leaves in memory may speed up runs with the same
   * key only: a shared cache would show by its speed what others have asked. Absent from older coordinators.
   */
  cacheKey: z.string().max(64).optional(),
  /** Longest run, counted from `started`. A duration, because the two clocks may differ. */
  runLimitMs: z.number().int().positive(),
  /** A text job that lost its Island: continue after `text`, which has `tokens` tokens. */
  resume: z.object({ text: z.string(), tokens: z.number().int().nonnegative() }).optional(),
});

const cancel = z.object({ type: z.literal("cancel"), ...attemptFields, reason: z.enum(["cancelled", "timeout"]) });
/** Frames of the attempt up to `seq` are durable; the Island can forget them. */
const ack = z.object({ type: z.literal("ack"), ...attemptFields, seq: z.number().int().positive(), quarantine });
const preload = z.object({ type: z.literal("preload"), ...signedCargoFields });
/** The coordinator closes the session next. `retryAfterMs` null: do not reconnect automatically. */
const goodbye = z.object({
  type: z.literal("goodbye"),
  reason: z.string().max(500),
  retryAfterMs: z.number().int().nonnegative().nullable(),
  /** Another coordinator of the network, which takes the Island now. Absent from older coordinators; one that is not understood is ignored. */
  address: z.string().max(1_000).optional().catch(undefined),
});

export const fromCoordinatorSchema = z.discriminatedUnion("type", [welcome, assign, cancel, ack, preload, goodbye]);
export type FromCoordinator = z.infer<typeof fromCoordinatorSchema>;
export type Assign = z.infer<typeof assign>;
export type Welcome = z.infer<typeof welcome>;
