import { z } from "zod";
import { cargoManifestSchema, type CargoManifest } from "../cargo.ts";

const attemptFields = { jobId: z.string().max(64), attempt: z.number().int().positive() };

/** What the Island does with a job that it said it holds. `drop`: stop it and forget it, someone else has it or it ended. */
const heldDecision = z.discriminatedUnion("action", [
  z.object({ ...attemptFields, action: z.literal("continue"), ackedSeq: z.number().int().nonnegative() }),
  z.object({ ...attemptFields, action: z.literal("drop") }),
]);
export type HeldDecision = z.infer<typeof heldDecision>;

const welcome = z.object({
  type: z.literal("welcome"),
  sessionId: z.string().max(64),
  heartbeatMs: z.number().int().positive(),
  maxFrameBytes: z.number().int().positive(),
  /** One for each job that `hello` named. */
  held: z.array(heldDecision),
});

/**
 * A manifest as it was sent. Nothing is taken away from it, at any depth: the signature also covers fields that only a later
 * version knows.
 */
const signedCargoFields = {
  cargo: z.custom<CargoManifest>().superRefine((value, context) => {
    for (const { path, message } of cargoManifestSchema.safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: "custom", path, message });
    }
  }),
  /** Ed25519 over `signedBytes()` of the manifest, 64 bytes in base64. */
  signature: z.string().max(100),
};

const assign = z.object({
  type: z.literal("assign"),
  ...attemptFields,
  /** Secret of this attempt; the Island repeats it when it comes back with the job. */
  claim: z.string().max(64),
  ...signedCargoFields,
  input: z.record(z.string(), z.unknown()),
  /** The run may take so long from `started`; a duration, as the two clocks may differ. */
  runLimitMs: z.number().int().positive(),
  /** A text job that lost its Island: go on after `text`, which took `tokens` tokens. */
  resume: z.object({ text: z.string(), tokens: z.number().int().nonnegative() }).optional(),
});

const cancel = z.object({ type: z.literal("cancel"), ...attemptFields, reason: z.enum(["cancelled", "timeout"]) });
/** Frames of the attempt up to `seq` are durable and may be forgotten. */
const ack = z.object({ type: z.literal("ack"), ...attemptFields, seq: z.number().int().positive() });
const preload = z.object({ type: z.literal("preload"), ...signedCargoFields });
/** The coordinator is about to close. `retryAfterMs` null: do not come back by yourself. */
const goodbye = z.object({
  type: z.literal("goodbye"),
  reason: z.string().max(500),
  retryAfterMs: z.number().int().nonnegative().nullable(),
});

export const fromCoordinatorSchema = z.discriminatedUnion("type", [welcome, assign, cancel, ack, preload, goodbye]);
export type FromCoordinator = z.infer<typeof fromCoordinatorSchema>;
export type Assign = z.infer<typeof assign>;
export type Welcome = z.infer<typeof welcome>;
