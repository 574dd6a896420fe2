import { IllegalTransitionError, type JobEvent, type JobState } from "../../../../shared/job-state.ts";
import { refusalOf, type LedgerParty, type Posting } from "../../../credits/postings.ts";
import { KeyCreditsError } from "../../../credits/credit-errors.ts";
import { NotOwnerError } from "../../cluster-store.ts";
import { messageTable } from "../../conversations.ts";
import type { HotWrites, JobText } from "../../jobs/hot-writes.ts";
import type { NewJob } from "../../jobs/job-store.ts";
import { feedChunkTable, jobTable } from "../../jobs/job-tables.ts";
import { monthBeginMs } from "../../accounts/key-spending.ts";
import { REFUSALS } from "../../refusals.ts";

/** Writes that are sent in batches. Each has a function in `job-functions.ts`. */
export interface Operations extends HotWrites {
  /** Gives waiting jobs quota slots. Returns the ids of the jobs that now have one, even if they had it before. */
  takeSlots(args: { readonly accountId: string; readonly jobIds: readonly string[]; readonly limit: number }): string[];
}

export type Operation = {
  [K in keyof Operations]: readonly [kind: K, args: Parameters<Operations[K]>[0]];
}[keyof Operations];

/** Encodes the values of an operation as the columns store them. */
export function toColumns(operation: Operation): Operation {
  const [kind, args] = operation;
  switch (kind) {
    case "submitJob":
      return [kind, jobToColumns(args)];
    case "submitBatch":
      return [kind, { ...args, jobs: args.jobs.map(jobToColumns) }];
    case "askQuestion":
      return [kind, { job: jobToColumns(args.job), question: messageTable.encode(args.question, "postgres") }];
    case "askAgain":
      return [kind, { ...args, job: jobToColumns(args.job) }];
    case "appendFeed":
      return [kind, feedChunkTable.encode(args, "postgres")];
    case "endJob": {
      const { lastChunk } = args;
      return [kind, { ...args, lastChunk: lastChunk && feedChunkTable.encode(lastChunk, "postgres") }];
    }
    default:
      return operation;
  }
}

const jobToColumns = <T extends JobText>(job: T): T => jobTable.encode(job, "postgres");

/** A result of an operation that refused before it wrote anything. */
type Refusal =
  | { readonly refused: "postings"; readonly balances: Readonly<Record<string, string | null>> }
  | { readonly refused: "key_credits"; readonly leftMicro: number }
  | { readonly refused: "transition"; readonly from: JobState; readonly event: JobEvent }
  | { readonly refused: "not_owner"; readonly jobId: string; readonly ownerId: string }
  | { readonly refused: Exclude<keyof typeof REFUSALS, "too_many_keys" | "too_many_codes" | "too_many_tokens"> };

/** Returns the refusal in a result of `pg_temp.run`; null for other results. */
export function refusalIn(operation: Operation, result: unknown): Error | null {
  const isRefusal = typeof result === "object" && result !== null && "refused" in result;
  return isRefusal ? toError(operation, result as Refusal) : null;
}

/** Returns the parties whose balances the operations lock, without the network, sorted as the database sorts them. */
export function partiesOf(operations: readonly Operation[]): string[] {
  const parties = new Set<string>();
  for (const operation of operations) {
    for (const { party } of postingsOf(operation)) if (party !== "network") parties.add(party);
    // The lock serializes requests with the same Idempotency-Key, and counts of an account's jobs.
    if (operation[0] === "findRepeat" || operation[0] === "takeSlots") parties.add(`client:${operation[1].accountId}`);
  }
  return [...parties].sort();
}

function submissionOf([kind, args]: Operation): Pick<NewJob, "apiKey" | "maxJobs"> {
  if (kind === "askQuestion" || kind === "askAgain") return args.job;
  return kind === "submitJob" || kind === "submitBatch" ? args : {};
}

function keyRefusal(operation: Operation, leftMicro: number): Error {
  const monthly = submissionOf(operation).apiKey?.monthly ?? null;
  if (monthly === null) return new Error("The database refused a write for a monthly limit that it does not have");
  return new KeyCreditsError(monthly.neededMicro, leftMicro, monthBeginMs(monthly.month + 1));
}

function postingsOf([kind, args]: Operation): readonly Posting[] {
  if (kind === "askQuestion" || kind === "askAgain") return args.job.postings;
  return kind === "submitJob" || kind === "submitBatch" || kind === "endJob" ? args.postings : [];
}

function toError(operation: Operation, refusal: Refusal): Error {
  if (refusal.refused === "transition") return new IllegalTransitionError(refusal.from, refusal.event);
  if (refusal.refused === "not_owner") return new NotOwnerError(refusal.jobId, refusal.ownerId);
  if (refusal.refused === "key_credits") return keyRefusal(operation, refusal.leftMicro);
  if (refusal.refused === "too_many_jobs") return REFUSALS.too_many_jobs(submissionOf(operation).maxJobs ?? 0);
  if (refusal.refused !== "postings") return REFUSALS[refusal.refused]();
  const balanceOf = (party: LedgerParty): bigint | undefined => {
    const balance = refusal.balances[party];
    return balance === null || balance === undefined ? undefined : BigInt(balance);
  };
  return (
    refusalOf(postingsOf(operation), balanceOf) ?? new Error("The database refused postings that are within all limits")
  );
}
