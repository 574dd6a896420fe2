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

/** A message that one coordinator answers. */
export interface Question<Q, R> {
  readonly name: string;
  readonly question: z.ZodType<Q>;
  readonly reply: z.ZodType<R>;
  /** The asker waits no longer. */
  readonly withinMs: number;
}

/** A message to all coordinators, the sender included, or to one. It may be lost. */
export interface News<T> {
  readonly name: string;
  readonly content: z.ZodType<T>;
}

/** A question that one coordinator answers with frames, the first within a second, until the asker wants no more. */
export interface Stream<Q, F> {
  readonly name: string;
  readonly question: z.ZodType<Q>;
  readonly frame: z.ZodType<F>;
}

export type QuestionOf<M extends { readonly question: z.ZodType }> = DeepReadonly<z.infer<M["question"]>>;
export type ReplyOf<M extends { readonly reply: z.ZodType }> = DeepReadonly<z.infer<M["reply"]>>;

/** Kinds of work in a message. Above it, they take turns. */
export const MAX_KINDS = 256;
/** Jobs that move at once because slots are free, in one commit. */
export const MAX_JOBS = 256;
/** Islands in an offer. */
export const MAX_ISLANDS = 256;
/** Jobs that are handed over, taken over or announced at once. */
export const MAX_MOVED = 500;
/** Sessions of Islands in a message. */
export const MAX_SESSIONS = 1_000;
/** Newest failures of a job that its next owner learns of. */
export const MAX_LET_DOWNS = 100;
/** As many streams of events as a coordinator may have. Their ids take 330 KB. */
const MAX_FOLLOWED = 10_000;
/** A page waits for the reply. */
const PAGE_MS = 500;

const id = z.string().max(200);
const text = z.string().max(10_000);
const MAX_COUNT = 1e12;
const count = z.number().int().min(0).max(MAX_COUNT);
/** The rule of {@link count}, for checks by hand. */
export const isCount = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COUNT;
const nothing = z.null();

const kind = z.object({ slug: id, onlyIslandsOf: id.nullable(), features: featuresSchema.optional() });
const load = kind.extend({ jobs: count, pressing: count, slots: count });

const status = z.object({
  /** Of all Islands of the sender, whatever they run. */
  freeSlots: count,
  /** Online Islands, busy or not. */
  islands: count,
  /** Of the kinds of which jobs wait somewhere. */
  work: z.array(load).max(MAX_KINDS),
});
export type PeerStatus = DeepReadonly<z.infer<typeof status>>;

const offeredIsland = z.object({ id, accountId: id, slots: count.min(1), serves: z.array(count).max(MAX_KINDS) });

const handover = z.object({
  jobId: id,
  failedOn: z.array(z.object({ islandId: id, accountId: id })).max(MAX_LET_DOWNS),
  final: z
    .object({
      islandId: id,
      error: z.object({ code: z.enum(JOB_ERROR_CODES), message: text, retryable: z.boolean() }),
    })
    .nullable(),
  /** W3C `traceparent`. */
  trace: z
    .string()
    .regex(/^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/)
    .optional()
    .catch(undefined),
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
});
/** The coordinator does not have the job. */
const gone = z.object({ is: z.literal("gone") });
/** The job had ended before, which is durable. */
const ended = z.object({ is: z.literal("ended") });

const liveIslands = z.array(liveIslandSchema);
const islandQuestion = z.object({ accountId: id, hostId: id.nullable() });

const metrics = z.object({
  islands: count,
  /** Of Islands that take new jobs. */
  slots: z.object({ free: count, all: count }),
  /** `waiting`: no Island has them. `running`: all others. */
  jobs: z.object({ running: count, waiting: count }),
  /** Of jobs in the last minute. */
  ended: z.object({ all: count, failed: count }),
  tokensPerSecond: z.number(),
  /** From when a job could be given to an Island (mostly its submission) to its first output, of jobs that ended in the last minute. */
  firstToken: z.array(z.tuple([count, count])),
  /** Waiting jobs of a Cargo that wait for the same thing. Most jobs first. */
  waiting: z
    .array(
      z.object({
        slug: id,
        /** Only Islands of this account may run them; null: all. */
        onlyIslandsOf: id.nullable(),
        jobs: count,
        oldestAtMs: z.number(),
        /** Of the oldest of them. */
        reason: z.enum(WAITING_REASONS),
        message: text,
      }),
    )
    .max(MAX_KINDS),
});
/** What one coordinator knows of itself. */
export type CoordinatorMetrics = DeepReadonly<z.infer<typeof metrics>>;
export type WaitingWork = CoordinatorMetrics["waiting"][number];

/** Position of a follower in a feed; see `FeedPosition`. */
const position = z.object({ outputs: count, statuses: count, attempt: count });
const large = z.object({ name: id, chars: count });
const feedItem = z.union([
  /** A token that counts as one. */
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
/** Tokens of one attempt that count as one each, as in nearly every frame. The check is by hand and copies nothing, because it runs for each token. */
export type WireTokens = readonly [from: number, attempt: number, ...texts: string[]];
const tokens = z.custom<WireTokens>(
  (frame) =>
    Array.isArray(frame) &&
    frame.length >= 2 &&
    frame.every((each: unknown, index) => (index < 2 ? isCount(each) : typeof each === "string")),
);
const feedFrame = feedSlice.extend({
  /** In the first frame: where it begins. With `more` it is the only one: the follower asks again from where it is then. */
  opened: z.object({ index: count, outputs: count, statuses: count, more: z.boolean() }).optional(),
  /** `lost`: the job went on without output that the follower has. `too_large`: the next item is in storage soon. In the last frame. */
  fault: z.enum(["lost", "too_large"]).optional(),
});
export type FeedFrame = WireTokens | z.infer<typeof feedFrame>;

function question<Q, R>(message: Question<Q, R>): Question<Q, R> {
  return message;
}

function news<T>(message: News<T>): News<T> {
  return message;
}

function stream<Q, F>(message: Stream<Q, F>): Stream<Q, F> {
  return message;
}

/** Every message between coordinators. docs/internals/cluster-messages.md says when each is sent. */
export const M = {
  /** A Cargo was changed: the stored ones are to be read. One that takes longer finds the change within a second. */
  catalog: question({ name: "catalog", question: nothing, reply: nothing, withinMs: 500 }),
  endAccount: question({
    name: "end_account",
    question: z.object({ accountId: id }),
    reply: nothing,
    withinMs: 5_000,
  }),

  /** Begins a stream of {@link Stream.name} with a number of the follower's, greater than those before it. */
  open: question({
    name: "open",
    question: z.object({ stream: count, name: id, question: z.unknown() }),
    reply: nothing,
    withinMs: 1_000,
  }),
  /**
   * Every second: the streams that a follower wants, and the next frame that it needs of each; of those up to number `upTo` it wants no
   * others. `broken`: those that it must open again.
   */
  beat: question({
    name: "beat",
    question: z.object({ upTo: count, streams: z.array(z.tuple([count, count])) }),
    reply: z.object({ broken: z.array(count) }),
    withinMs: 1_000,
  }),
  /** A job's feed from a position on. Ends early when the coordinator does not have the job. */
  feed: stream({
    name: "feed",
    question: z.object({ jobId: id, after: position }),
    frame: z.union([tokens, feedFrame]),
  }),

  /** What only the owner knows of an unfinished job. */
  describeJob: question({
    name: "describe_job",
    question: z.object({ jobId: id }),
    reply: z.discriminatedUnion("is", [gone, ended, z.object({ is: z.literal("described"), facts: liveFacts })]),
    withinMs: 500,
  }),
  cancelJob: question({
    name: "cancel_job",
    question: z.object({ jobId: id }),
    reply: z.discriminatedUnion("is", [gone, ended, z.object({ is: z.literal("cancelled"), state: jobState })]),
    withinMs: 5_000,
  }),

  status: news({ name: "status", content: status }),
  steal: question({
    name: "steal",
    question: z.object({
      /** Jobs that start at once: no more than these slots can. */
      offer: z.object({ kinds: z.array(kind).max(MAX_KINDS), islands: z.array(offeredIsland).max(MAX_ISLANDS) }),
      /** The asker's load of kinds of which it takes jobs into its queues, where they compete, if less waits there for each slot. */
      backlog: z.array(load).max(MAX_KINDS),
    }),
    reply: z.object({
      /** Those that belong to the asker now. */
      jobIds: z.array(id).max(MAX_JOBS),
      /** What is left of the kinds that it asked for. */
      rest: z.array(load).max(2 * MAX_KINDS),
    }),
    withinMs: 5_000,
  }),
  /** Whether Islands of the coordinator may ever run a kind of work. A client waits for its refusal. */
  outlook: question({
    name: "outlook",
    question: kind,
    reply: z.union([
      z.object({ is: z.enum(["possible", "absent"]) }),
      z.object({ is: z.literal("lacking"), message: z.string().max(2_000) }),
    ]),
    withinMs: 500,
  }),

  /** Jobs that a coordinator which stops gave to the one that is asked. */
  take: question({
    name: "take",
    question: z.object({ jobIds: z.array(id).max(MAX_MOVED) }),
    reply: nothing,
    withinMs: 5_000,
  }),
  /** What no storage has of jobs that move, to their next owner, before it learns of the jobs. */
  handoverStates: question({
    name: "handoverStates",
    question: z.object({ handoverStates: z.array(handover).max(MAX_MOVED) }),
    reply: nothing,
    withinMs: 5_000,
  }),
  /** Jobs that the sender has taken over. */
  moved: news({
    name: "moved",
    content: z.object({ jobIds: z.array(id).max(MAX_MOVED) }),
  }),
  /** A job of the batch failed or timed out, which may end the batch. */
  batchEnded: news({ name: "batch_ended", content: z.object({ batchId: id }) }),

  /** A key, session, token or limit changed. */
  credentials: news({ name: "credentials", content: nothing }),
  /** Sessions of Islands that the sender has: host id, number and account of each. */
  sessions: news({
    name: "sessions",
    content: z.array(z.tuple([id, count, id])).max(MAX_SESSIONS),
  }),

  /** Requests that the quota owner of an account grants to a credential. */
  requests: question({
    name: "requests",
    question: z.object({ credential: z.string().max(1_000), limit: count, count }),
    reply: z.object({
      granted: count,
      /** Of the limit, after these. */
      remaining: count,
      freesInMs: z.number(),
    }),
    withinMs: 500,
  }),
  /** How many streams of an account are open at the asker, and whether there may be one more. */
  streams: question({
    name: "streams",
    question: z.object({
      accountId: id,
      open: count,
      /** Whether there may be one more, and then it counts; null: no other is wanted. */
      limit: count.nullable(),
    }),
    reply: z.object({ granted: z.boolean() }),
    withinMs: 500,
  }),

  /** The connected Islands of an account, or one of them. */
  islandsOf: question({ name: "islands_of", question: islandQuestion, reply: liveIslands, withinMs: PAGE_MS }),
  removeIsland: question({
    name: "remove_island",
    question: z.object({ accountId: id, hostId: id }),
    reply: nothing,
    withinMs: PAGE_MS,
  }),
  /** Which Cargos of the account connected Islands can run. */
  availability: question({
    name: "availability",
    question: z.object({ accountId: id }),
    reply: z.array(z.object({ slug: id, islands: count, ready: count, free: count })),
    withinMs: PAGE_MS,
  }),
  /**
   * Send changes of these accounts; `all`: and of no others. The reply is the number of messages that the asker was sent; null: it was not
   * known, and was sent nothing.
   */
  events: question({
    name: "events",
    question: z.object({ accountIds: z.array(id).max(MAX_FOLLOWED), all: z.boolean() }),
    reply: count.nullable(),
    withinMs: 3_000,
  }),
  /** To one that asked: changes of an account. Null is a reset, or a change of a kind that this version does not know. */
  changes: news({
    name: "events",
    content: z.object({
      /** Number of this message. */
      sent: count,
      accountId: id,
      changes: z.array(changeSchema.nullable().catch(null)).max(MAX_WAITING).nullable(),
    }),
  }),
  metrics: question({ name: "metrics", question: nothing, reply: metrics, withinMs: PAGE_MS }),
  /** Those of these Islands that are connected, for an operator's page. */
  islands: question({
    name: "islands",
    question: z.object({ hostIds: z.array(id).max(1_000) }),
    reply: liveIslands,
    withinMs: PAGE_MS,
  }),
} as const;

export type StealRequest = QuestionOf<typeof M.steal>;
