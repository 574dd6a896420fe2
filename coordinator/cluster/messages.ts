import { z } from "zod";
import { ATTEMPT_PHASES } from "../../shared/attempt-phase.ts";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { JOB_ERROR_CODES } from "../../shared/errors.ts";
import { featuresSchema } from "../../shared/features/features.ts";
import { JOB_STATES } from "../../shared/job-state.ts";
import { FINISH_REASONS, outputItemSchema, usageSchema } from "../../shared/output.ts";
import { changeSchema, MAX_WAITING } from "../events/change.ts";
import { liveIslandSchema } from "../islands/live-island.ts";
import { WAITING_REASONS } from "../jobs/job-waiting.ts";
import { CHOICE_REASONS } from "../scheduler/events.ts";

/** A request to one coordinator, which must reply within `withinMs`. */
export interface Question<Q, R> {
  readonly name: string;
  readonly question: z.ZodType<Q>;
  readonly reply: z.ZodType<R>;
  readonly withinMs: number;
}

/** A message to all coordinators, including the sender, or to one coordinator. It may be lost. */
export interface News<T> {
  readonly name: string;
  readonly content: z.ZodType<T>;
}

/**
 * A request to one coordinator, which then sends frames until it is stopped. The first frame must arrive within 1 s.
 */
export interface Stream<Q, F> {
  readonly name: string;
  readonly question: z.ZodType<Q>;
  readonly frame: z.ZodType<F>;
}

export type QuestionOf<M extends { readonly question: z.ZodType }> = DeepReadonly<z.infer<M["question"]>>;
export type ReplyOf<M extends { readonly reply: z.ZodType }> = DeepReadonly<z.infer<M["reply"]>>;

/** Maximum number of kinds of work in a message. If there are more, they rotate from message to message. */
export const MAX_KINDS = 256;
/** Maximum number of jobs that move to free slots in one commit. */
export const MAX_JOBS = 256;
export const MAX_ISLANDS = 256;
/** Maximum number of Islands whose work the operator's overview shows. */
export const MAX_SHOWN_ISLANDS = 20;
/** Maximum number of jobs transferred, adopted or announced in one message. */
export const MAX_MOVED = 500;
export const MAX_SESSIONS = 1_000;
/** Maximum number of Islands that were compared for a job. */
const MAX_CANDIDATES = 100;
/** Maximum number of a job's newest failures that its next owner receives. */
export const MAX_FAILED_ON = 100;
/** Maximum number of accounts with event streams at a coordinator. Their ids take 330 KB. */
const MAX_FOLLOWED = 10_000;
/** Maximum number of owners that a coordinator names as readers of a Cargo's answers. */
export const MAX_READING_OWNERS = 100;
/** Timeout of requests for which a page waits. */
const PAGE_MS = 500;

const id = z.string().max(200);
const text = z.string().max(10_000);
const MAX_COUNT = 1e12;
const count = z.number().int().min(0).max(MAX_COUNT);
/** Checks a {@link count} without Zod. */
export const isCount = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COUNT;
const nothing = z.null();

const kind = z.object({ slug: id, onlyIslandsOf: id.nullable(), features: featuresSchema.optional() });
const load = kind.extend({ jobs: count, pressing: count, slots: count });

const status = z.object({
  /** Number of free slots of all Islands of the sender, for any kind of work. */
  freeSlots: count,
  islands: count,
  /** Load of the kinds of work with waiting jobs at any coordinator. */
  work: z.array(load).max(MAX_KINDS),
});
export type PeerStatus = DeepReadonly<z.infer<typeof status>>;

const offeredIsland = z.object({ id, accountId: id, slots: count.min(1), serves: z.array(count).max(MAX_KINDS) });

const handover = z.object({
  jobId: id,
  failedOn: z.array(z.object({ islandId: id, accountId: id })).max(MAX_FAILED_ON),
  final: z
    .object({
      islandId: id,
      error: z.object({ code: z.enum(JOB_ERROR_CODES), message: text, retryable: z.boolean() }),
    })
    .nullable(),
  /** W3C `traceparent` of the job's span. */
  trace: z
    .string()
    .regex(/^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/)
    .optional()
    .catch(undefined),
});

const ms = z.number().min(0);
const placement = z.object({
  choice: z
    .object({
      reason: z.enum(CHOICE_REASONS),
      islandId: id,
      candidates: z
        .array(
          z.object({
            islandId: id,
            costMs: ms,
            waitMs: ms,
            loadMs: ms,
            readMs: ms,
            writeMs: ms,
            rttMs: ms,
            slowdownMs: ms,
            risk: z.number(),
            cachedTokens: z.number().min(0),
          }),
        )
        .max(MAX_CANDIDATES),
    })
    .nullable(),
  reservedIslandId: id.nullable(),
});
const jobState = z.enum(JOB_STATES);
const liveFacts = z.object({
  state: jobState,
  attempt: count,
  startedAtMs: z.number().nullable(),
  waiting: z
    .object({
      reason: z.enum(WAITING_REASONS),
      position: count,
      message: text,
      percent: z.number().exactOptional(),
      phase: z.enum(ATTEMPT_PHASES).exactOptional(),
    })
    .nullable(),
  placement: placement.nullable().catch(null).exactOptional(),
});
/** The reply of a coordinator that does not have the job. */
const gone = z.object({ is: z.literal("gone") });
const ended = z.object({ is: z.literal("ended") });

const liveIslands = z.array(liveIslandSchema);
const movedJobs = z.object({ jobIds: z.array(id).max(MAX_MOVED) });

const metrics = z.object({
  islands: count,
  slots: z.object({ free: count, all: count }),
  /** Numbers of unfinished jobs. `waiting`: not assigned to an Island. `running`: all others. */
  jobs: z.object({ running: count, waiting: count }),
  /** Numbers of jobs that ended in the last minute. */
  ended: z.object({ all: count, failed: count }),
  tokensPerSecond: z.number(),
  /**
   * Histogram of the times from when a job could be assigned to its first output, for jobs that ended in the last
   * minute: pairs of bucket and count.
   */
  firstToken: z.array(z.tuple([count, count])),
  /** Waiting jobs grouped by Cargo and reason, largest group first. */
  waiting: z
    .array(
      z.object({
        slug: id,
        /** The only account whose Islands may run the jobs; null for all Islands. */
        onlyIslandsOf: id.nullable(),
        jobs: count,
        oldestAtMs: z.number(),
        reason: z.enum(WAITING_REASONS),
        message: text,
      }),
    )
    .max(MAX_KINDS),
  /** Tokens of jobs that ended in the last 10 minutes. Absent if the sender is an older coordinator. */
  work: z
    .object({
      promptTokens: count,
      /** Prompt tokens that Islands had in their caches. */
      cachedTokens: count,
      /** Connected Islands, the most output first. */
      islands: z
        .array(z.object({ islandId: id, slots: count, outputTokens: count, cachedTokens: count }))
        .max(MAX_SHOWN_ISLANDS),
    })
    .exactOptional(),
});
export type CoordinatorMetrics = DeepReadonly<z.infer<typeof metrics>>;
export type WaitingWork = CoordinatorMetrics["waiting"][number];

/** Position of a follower in a feed; see `FeedPosition`. */
const position = z.object({ outputs: count, statuses: count, attempt: count });
const large = z.object({ name: id, chars: count });
const feedItem = z.union([
  /** The text of a token with count 1. */
  z.string(),
  z.tuple([z.string(), count]),
  z.object({ type: z.literal("status"), state: id }),
  z.object({ type: z.literal("image"), format: id, large }),
  outputItemSchema,
]);
const done = z.object({
  type: z.literal("done"),
  usage: usageSchema,
  finishReason: z.enum(FINISH_REASONS),
  stopSequence: z.string().exactOptional(),
  creditsUsedMicro: z.number(),
});
const feedSlice = z.object({
  from: count,
  parts: z.array(z.object({ attempt: count, items: z.array(feedItem) })),
  promptTokens: count.optional(),
  ending: z
    .union([
      done.extend({ large }),
      done.extend({ output: z.unknown() }),
      z.object({
        type: z.literal("error"),
        code: z.enum([...JOB_ERROR_CODES, "cancelled"]),
        message: z.string(),
        retryable: z.boolean(),
      }),
    ])
    .optional(),
});
export type WireSlice = z.infer<typeof feedSlice>;
/** Tokens of one attempt with count 1 each, as in most frames. The check copies nothing: it runs for each token. */
export type WireTokens = readonly [from: number, attempt: number, ...texts: string[]];
const tokens = z.custom<WireTokens>(
  (frame) =>
    Array.isArray(frame) &&
    frame.length >= 2 &&
    frame.every((each: unknown, index) => (index < 2 ? isCount(each) : typeof each === "string")),
);
const feedFrame = feedSlice.extend({
  /** Start position, in the first frame only. `more`: the follower must ask again from its new position. */
  opened: z.object({ index: count, outputs: count, statuses: count, more: z.boolean() }).optional(),
  /**
   * Ends the stream. `lost`: the job continued without output that the follower has. `too_large`: read it from storage.
   */
  fault: z.enum(["lost", "too_large"]).optional(),
});
export type FeedFrame = WireTokens | z.infer<typeof feedFrame>;

/** Every message between coordinators. docs/internals/cluster-messages.md describes when each is sent. */
export const MESSAGES = {
  /** The receiver reloads the stored Cargos. A receiver that times out finds the change within a second. */
  catalog: { name: "catalog", question: nothing, reply: nothing, withinMs: 500 },
  endAccount: { name: "end_account", question: z.object({ accountId: id }), reply: nothing, withinMs: 5_000 },

  /** Opens the stream `name`. The follower chooses the stream's number, which is greater than its earlier numbers. */
  open: {
    name: "open",
    question: z.object({ stream: count, name: id, question: z.unknown() }),
    reply: nothing,
    withinMs: 1_000,
  },
  /**
   * Heartbeat of a follower, every second: its streams, and the next frame number of each. Missing streams up to number
   * `upTo` are closed. `broken`: numbers of streams to open again.
   */
  beat: {
    name: "beat",
    question: z.object({ upTo: count, streams: z.array(z.tuple([count, count])) }),
    reply: z.object({ broken: z.array(count) }),
    withinMs: 1_000,
  },
  /** Requests a job's feed from a position. The stream ends early if the coordinator does not have the job. */
  feed: {
    name: "feed",
    question: z.object({ jobId: id, after: position }),
    frame: z.union([tokens, feedFrame]),
  },

  /** Asks for the state of an unfinished job that only its owner has. */
  describeJob: {
    name: "describe_job",
    question: z.object({ jobId: id }),
    reply: z.discriminatedUnion("is", [gone, ended, z.object({ is: z.literal("described"), facts: liveFacts })]),
    withinMs: 500,
  },
  cancelJob: {
    name: "cancel_job",
    question: z.object({ jobId: id }),
    reply: z.discriminatedUnion("is", [gone, ended, z.object({ is: z.literal("cancelled"), state: jobState })]),
    withinMs: 5_000,
  },

  status: { name: "status", content: status },
  /** Requests waiting jobs, for free slots or for the queues of the requester. */
  steal: {
    name: "steal",
    question: z.object({
      /** Slots for jobs that can start at once. They limit how many jobs move. */
      offer: z.object({ kinds: z.array(kind).max(MAX_KINDS), islands: z.array(offeredIsland).max(MAX_ISLANDS) }),
      /** Load of the requester, for kinds of work whose jobs move to its queues if they wait less there. */
      backlog: z.array(load).max(MAX_KINDS),
    }),
    reply: z.object({
      jobIds: z.array(id).max(MAX_JOBS),
      rest: z.array(load).max(2 * MAX_KINDS),
    }),
    withinMs: 5_000,
  },
  /** Asks whether Islands can run a kind of work. A client waits for the reply. */
  outlook: {
    name: "outlook",
    question: kind,
    reply: z.union([
      z.object({ is: z.enum(["possible", "absent"]) }),
      z.object({ is: z.literal("lacking"), message: z.string().max(2_000) }),
    ]),
    withinMs: 500,
  },

  /** Asks for owners of connected Islands that can read answers of a Cargo for audits, proven ones first. */
  readers: {
    name: "readers",
    question: z.object({ slug: id }),
    reply: z.array(id).max(MAX_READING_OWNERS),
    withinMs: 500,
  },

  /** Jobs that a stopping coordinator transferred to the receiver. */
  take: { name: "take", question: movedJobs, reply: nothing, withinMs: 5_000 },
  /** State of moving jobs that is not in storage. It is sent to the next owner before the message about the jobs. */
  handovers: {
    name: "handovers",
    question: z.object({ handovers: z.array(handover).max(MAX_MOVED) }),
    reply: nothing,
    withinMs: 5_000,
  },
  /** Jobs that the sender owns now. */
  moved: { name: "moved", content: movedJobs },
  /** A job of the batch failed or timed out, which may end the batch. */
  batchEnded: { name: "batch_ended", content: z.object({ batchId: id }) },

  /** A key, session, token or limit changed. */
  credentials: { name: "credentials", content: nothing },
  /** Island sessions at the sender: host id, number and account of each. */
  sessions: { name: "sessions", content: z.array(z.tuple([id, count, id])).max(MAX_SESSIONS) },

  /** Asks the quota owner of an account to grant requests of a credential. */
  requests: {
    name: "requests",
    question: z.object({ credential: z.string().max(1_000), limit: count, count }),
    reply: z.object({
      granted: count,
      /** Rest of the limit after the granted requests. */
      remaining: count,
      freesInMs: z.number(),
    }),
    withinMs: 500,
  },
  /** Reports the account's open streams at the sender, and may ask for one more. */
  streams: {
    name: "streams",
    question: z.object({
      accountId: id,
      open: count,
      /** Limit under which one more stream is opened and counted; null if none is requested. */
      limit: count.nullable(),
    }),
    reply: z.object({ granted: z.boolean() }),
    withinMs: 500,
  },

  /** Asks for the connected Islands of an account, or for one of them. */
  islandsOf: {
    name: "islands_of",
    question: z.object({ accountId: id, hostId: id.nullable() }),
    reply: liveIslands,
    withinMs: PAGE_MS,
  },
  removeIsland: {
    name: "remove_island",
    question: z.object({ accountId: id, hostId: id }),
    reply: nothing,
    withinMs: PAGE_MS,
  },
  /** Asks for the Cargos of an account that connected Islands can run. */
  availability: {
    name: "availability",
    question: z.object({ accountId: id }),
    reply: z.array(z.object({ slug: id, islands: count, ready: count, free: count })),
    withinMs: PAGE_MS,
  },
  /**
   * Subscribes to changes of accounts; `all` ends the subscriptions to other accounts. The reply is the number of
   * messages sent so far, or null for an unknown requester.
   */
  events: {
    name: "events",
    question: z.object({ accountIds: z.array(id).max(MAX_FOLLOWED), all: z.boolean() }),
    reply: count.nullable(),
    withinMs: 3_000,
  },
  /**
   * Changes of an account, for a subscriber. Null `changes` are a reset; a null item is a change of an unknown kind.
   */
  changes: {
    name: "events",
    content: z.object({
      sent: count,
      accountId: id,
      changes: z.array(changeSchema.nullable().catch(null)).max(MAX_WAITING).nullable(),
    }),
  },
  metrics: { name: "metrics", question: nothing, reply: metrics, withinMs: PAGE_MS },
  /** Asks for the live state of those given Islands that are connected, for an operator's page. */
  islands: {
    name: "islands",
    question: z.object({ hostIds: z.array(id).max(1_000) }),
    reply: liveIslands,
    withinMs: PAGE_MS,
  },
} as const;

export type StealRequest = QuestionOf<typeof MESSAGES.steal>;
