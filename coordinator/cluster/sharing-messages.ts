import { z } from "zod";
import { featuresSchema } from "../../shared/features.ts";
import type { Outlook, SlotOffer, WorkKind, WorkLoad } from "../scheduler/shared-work.ts";

/** Told by every coordinator to all, on the subject `peers`. */
export interface PeerStatus {
  readonly id: string;
  /** Of all its Islands, whatever they run. */
  readonly freeSlots: number;
  /** Online Islands, busy or not. An older version does not say it. */
  readonly islands?: number | undefined;
  /** Of the kinds of which jobs wait somewhere. */
  readonly work: readonly WorkLoad[];
}

/** One coordinator asks another for waiting jobs, on the subject `<id>.steal`. */
export interface StealRequest {
  /** Id of the coordinator that asks. */
  readonly from: string;
  /** Jobs that start at once: no more than these slots can. */
  readonly offer: SlotOffer;
  /** Its own load of kinds of which it takes jobs into its queues, where they compete, if less waits there for each slot. */
  readonly backlog: readonly WorkLoad[];
}

export interface StealAnswer {
  /** Those that belong to the one who asked now. */
  readonly jobIds: readonly string[];
  /** What is left of the kinds that it asked for. */
  readonly rest: readonly WorkLoad[];
}

/** Kinds in a message. Above it, they take turns. */
export const MAX_KINDS = 256;
/** Jobs that move at once, in one commit. */
export const MAX_JOBS = 256;
/** Islands in an offer. */
export const MAX_ISLANDS = 256;

const MAX_ID_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 2_000;
const id = z.string().max(MAX_ID_LENGTH);
const count = z.number().int().min(0).max(1e9);
const kind = z.object({ slug: id, onlyIslandsOf: id.nullable(), features: featuresSchema.optional() });
const load = kind.extend({ jobs: count, pressing: count, slots: count });
const island = z.object({ id, accountId: id, slots: count.min(1), serves: z.array(count).max(MAX_KINDS) });
const status = z.object({ id, freeSlots: count, islands: count.optional(), work: z.array(load).max(MAX_KINDS) });
const request = z.object({
  from: id,
  offer: z.object({ kinds: z.array(kind).max(MAX_KINDS), islands: z.array(island).max(MAX_ISLANDS) }),
  backlog: z.array(load).max(MAX_KINDS),
});
const outlook = z.union([
  z.object({ is: z.enum(["possible", "absent"]) }),
  z.object({ is: z.literal("lacking"), message: z.string().max(MAX_MESSAGE_LENGTH) }),
]);
const answer = z.object({ jobIds: z.array(id).max(MAX_JOBS), rest: z.array(load).max(2 * MAX_KINDS) });

/** Undefined for what another version says otherwise: its sender counts as silent. Fields that are not known are left out. */
export function readPeerStatus(message: unknown): PeerStatus | undefined {
  return status.safeParse(message).data;
}

/** @throws {z.ZodError} */
export function readWorkKind(message: unknown): WorkKind {
  return kind.parse(message);
}

/** Null for a response that is not an outlook as this version knows it. */
export function readOutlook(message: unknown): Outlook | null {
  return outlook.safeParse(message).data ?? null;
}

/** @throws {z.ZodError} */
export function readStealRequest(message: unknown): StealRequest {
  return request.parse(message);
}

/** @throws {z.ZodError} */
export function readStealAnswer(message: unknown): StealAnswer {
  return answer.parse(message);
}
