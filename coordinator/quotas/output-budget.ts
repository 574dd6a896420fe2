import { Pool, type PoolKey } from "./pool.ts";

/** Holders of output in memory: the account, the Island that runs the job, and the coordinator for all output. */
export type OutputOwner = "account" | "island" | "coordinator";

/**
 * Limits the bytes of unfinished jobs' output in memory. When the budget is used up, an account may still use its equal
 * share.
 */
export type OutputBudget = Pool<OutputOwner>;

const COORDINATOR: PoolKey<OutputOwner> = ["coordinator"];

type Limits = Readonly<Record<"accountOutputMemoryBytes" | "islandOutputMemoryBytes" | "outputMemoryBytes", number>>;

export function outputBudget(limits: Limits): OutputBudget {
  const { accountOutputMemoryBytes: account, islandOutputMemoryBytes: island, outputMemoryBytes: coordinator } = limits;
  return new Pool<OutputOwner>({ account, island, coordinator }, "account");
}

/** Returns the holders of a job's output. @param islandId null for a job without an Island. */
export function outputOwners(accountId: string, islandId: string | null): PoolKey<OutputOwner>[] {
  const account: PoolKey<OutputOwner> = ["account", accountId];
  return islandId === null ? [account, COORDINATOR] : [account, ["island", islandId], COORDINATOR];
}
