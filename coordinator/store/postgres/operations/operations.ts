import { IllegalTransitionError, type JobEvent, type JobState } from "../../../../shared/job-state.ts";
import { refusalOf, type LedgerParty, type Posting } from "../../../credits/postings.ts";
import { KeyCreditsError } from "../../../credits/key-credits-error.ts";
import type { NewBatch } from "../../batch-store.ts";
import { NotOwnerError } from "../../cluster-store.ts";
import type { Question } from "../../conversations.ts";
import type { JobEnding, JobMove, NewJob } from "../../job-store.ts";
import { monthBeginMs } from "../../key-spending.ts";
import { REFUSALS } from "../../refusals.ts";
import type { KeyedRequest, Made } from "../../idempotency.ts";

/** A job in the form in which it is sent. `input`: JSON text. */
export type JobArgs = Omit<NewJob, "input" | "inputJson" | "answer"> & { readonly input: string };

/** A piece of a large value. */
export interface Piece {
  readonly name: string;
  readonly piece: number;
  readonly text: string;
}

/** A chunk of a feed. `items`: its layout as JSON; `text`: the inner of a JSON string. */
export interface ChunkArgs {
  readonly attempt: number;
  readonly seq: number | null;
  readonly items: string;
  readonly text: string;
}

/** The writes that every job makes; they are written in batches. `job-functions.ts` has a function for each. */
export interface Operations {
  submitJob(args: JobArgs): Made | null;
  /** Returns how many of its jobs have a place. */
  submitBatch(args: Omit<NewBatch, "jobs"> & { readonly jobs: readonly object[] }): Made | number;
  askQuestion(args: { question: Question; job: JobArgs }): Made | null;
  askAgain(args: { answerId: string; endedJobId: string; job: JobArgs }): Made | null;
  findRepeat(args: KeyedRequest): Made | null;
  /** Returns the ids of those that have a place, now or before. */
  takePlaces(args: {
    readonly accountId: string;
    readonly jobIds: readonly string[];
    readonly limit: number;
  }): string[];
  moveJob(args: JobMove): null;
  appendFeed(args: ChunkArgs & { readonly jobId: string; readonly pieces: readonly Piece[] }): null;
  /** `output`, `timings` and `error`: JSON text. Returns the ids of the webhooks that become due. */
  endJob(
    args: Pick<
      JobEnding,
      "jobId" | "event" | "attempt" | "atMs" | "startedAtMs" | "usage" | "finishReason" | "chargeMicro" | "postings"
    > & {
      output: string | null;
      largeChars: number | null;
      timings: string | null;
      error: string | null;
      lastChunk: ChunkArgs | null;
      pieces: readonly Piece[];
    },
  ): string[];
}

export type OperationKind = keyof Operations;
export type OperationArgs<K extends OperationKind> = Parameters<Operations[K]>[0];
export type OperationResult<K extends OperationKind> = ReturnType<Operations[K]>;
export type Operation = { [K in OperationKind]: readonly [kind: K, args: OperationArgs<K>] }[OperationKind];

const KEPT: ReadonlySet<OperationKind> = new Set<OperationKind>(["moveJob", "appendFeed", "endJob"]);

/** What has happened already, on an Island or in memory: it is written as soon as that is possible again. */
export const isKept = (kind: OperationKind): boolean => KEPT.has(kind);

type Refusal =
  | { readonly refused: "postings"; readonly balances: Readonly<Record<string, string | null>> }
  | { readonly refused: "key_credits"; readonly leftMicro: number }
  | { readonly refused: "transition"; readonly from: JobState; readonly event: JobEvent }
  | { readonly refused: "not_owner"; readonly jobId: string; readonly ownerId: string }
  | {
      readonly refused:
        | "too_many_jobs"
        | "idempotency_conflict"
        | "no_conversation"
        | "conversation_busy"
        | "no_answer"
        | "no_job";
    };

/** What `pg_temp.run` answered for an operation. */
export function resultOf(operation: Operation, answer: unknown): { value: unknown; refusal: Error | null } {
  if (typeof answer === "object" && answer !== null && "refused" in answer) {
    return { value: null, refusal: errorOf(operation, answer as Refusal) };
  }
  return { value: answer, refusal: null };
}

/** Parties whose balances the operations read or change, sorted as the database sorts them. The network's is never locked. */
export function partiesOf(operations: readonly Operation[]): string[] {
  const parties = new Set<string>();
  for (const operation of operations) {
    for (const { party } of postingsOf(operation)) if (party !== "network") parties.add(party);
    // Two requests with the same key take turns, and so do those who count the jobs of an account.
    if (operation[0] === "findRepeat" || operation[0] === "takePlaces") parties.add(`client:${operation[1].accountId}`);
  }
  return [...parties].sort();
}

function submissionOf([kind, args]: Operation): Pick<NewJob, "apiKey" | "maxJobs"> {
  if (kind === "askQuestion" || kind === "askAgain") return args.job;
  return kind === "submitJob" || kind === "submitBatch" ? args : {};
}

function keyRefusal(operation: Operation, leftMicro: number): Error {
  const monthly = submissionOf(operation).apiKey?.monthly ?? null;
  if (monthly === null) return new Error("A write without a monthly limit was refused for one");
  return new KeyCreditsError(monthly.neededMicro, leftMicro, monthBeginMs(monthly.month + 1));
}

function postingsOf([kind, args]: Operation): readonly Posting[] {
  if (kind === "askQuestion" || kind === "askAgain") return args.job.postings;
  return kind === "submitJob" || kind === "submitBatch" || kind === "endJob" ? args.postings : [];
}

function errorOf(operation: Operation, refusal: Refusal): Error {
  if (refusal.refused === "transition") return new IllegalTransitionError(refusal.from, refusal.event);
  if (refusal.refused === "not_owner") return new NotOwnerError(refusal.jobId, refusal.ownerId);
  if (refusal.refused === "key_credits") return keyRefusal(operation, refusal.leftMicro);
  if (refusal.refused === "too_many_jobs") return REFUSALS.too_many_jobs(submissionOf(operation).maxJobs ?? 0);
  if (refusal.refused !== "postings") return REFUSALS[refusal.refused]();
  const balanceOf = (party: LedgerParty): bigint | undefined => {
    const balance = refusal.balances[party];
    return balance === null || balance === undefined ? undefined : BigInt(balance);
  };
  return refusalOf(postingsOf(operation), balanceOf) ?? new Error("The ledger refused postings that it may take");
}
