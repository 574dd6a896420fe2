import { isTerminal, JOB_STATES, type JobState } from "../../shared/job-state.ts";

/** A job of the account is new or in another state. */
export interface JobChange {
  readonly type: "job";
  readonly id: string;
  readonly slug: string;
  readonly state: JobState;
  /** Why it failed; null for a job that did not. */
  readonly code: string | null;
  readonly batchId: string | null;
  readonly createdAtMs: number;
  readonly completedAtMs: number | null;
  readonly atMs: number;
}

/** An Island of the account came, went, or says something else of itself. Who tells of it reads how it is. */
export interface IslandChange {
  readonly type: "island";
  readonly id: string;
  readonly atMs: number;
}

/** The account's balance may be another one. Who tells of it reads it. */
export interface BalanceChange {
  readonly type: "balance";
  readonly atMs: number;
}

/** Something else of the account: its address, role or limits, its keys, sessions or Island tokens. Who tells of it reads the account. */
export interface AccountChange {
  readonly type: "account";
  readonly atMs: number;
}

/** What an account's owner is told of. Coordinators send it to each other as it is. */
export type Change = JobChange | IslandChange | BalanceChange | AccountChange;

/** Changes of the same thing have the same key: the newer one takes the place of the older one. */
export function keyOf(change: Change): string {
  return "id" in change ? `${change.type}:${change.id}` : change.type;
}

/** False for what is older than `known`, of the same key. The end of a job is newer than all that clocks say. */
export function isNews(change: Change, known: Change): boolean {
  const [ended, knownEnded] = [hasEnded(change), hasEnded(known)];
  return ended === knownEnded ? change.atMs >= known.atMs : ended;
}

function hasEnded(change: Change): boolean {
  return change.type === "job" && isTerminal(change.state);
}

/** Undefined for what is no change, or one of a kind that only another version knows. */
export function readChange(value: unknown): Change | undefined {
  if (typeof value !== "object" || value === null || !("type" in value)) return undefined;
  const change = value as Change;
  if (typeof change.atMs !== "number") return undefined;
  if (change.type === "balance" || change.type === "account") return change;
  if (typeof change.id !== "string") return undefined;
  if (change.type === "island") return change;
  return change.type === "job" && JOB_STATES.includes(change.state) ? change : undefined;
}
