import { Pool, type PoolKey } from "./pool.ts";

/** Owners of output: its account, the Island that runs the job, and the coordinator for all output. */
export type OutputOwner = "account" | "island" | "coordinator";

/** Bytes of output of unfinished jobs in memory. When all is used, an account within its share may still add output. */
export type OutputBudget = Pool<OutputOwner>;

type Limits = Readonly<Record<"accountOutputMemoryBytes" | "islandOutputMemoryBytes" | "outputMemoryBytes", number>>;

export function outputBudget(limits: Limits): OutputBudget {
  const { accountOutputMemoryBytes: account, islandOutputMemoryBytes: island, outputMemoryBytes: coordinator } = limits;
  return new Pool<OutputOwner>({ account, island, coordinator }, "account");
}

/** @param islandId null: without an Island. */
export function outputOwners(accountId: string, islandId: string | null): PoolKey<OutputOwner>[] {
  const island: PoolKey<OutputOwner>[] = islandId === null ? [] : [["island", islandId]];
  return [["account", accountId], ...island, ["coordinator"]];
}
