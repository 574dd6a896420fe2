import { Pool, type PoolKey } from "./pool.ts";

/** Whose output is counted: of an account, of an Island for the jobs that it runs, and of all. */
export type OutputOwner = "account" | "island" | "coordinator";

/** Bytes of output of unfinished jobs in memory. When all is used up, an account's output never stops another's within its share. */
export type OutputBudget = Pool<OutputOwner>;

type Limits = Readonly<Record<"accountOutputMemoryBytes" | "islandOutputMemoryBytes" | "outputMemoryBytes", number>>;

export function outputBudget(limits: Limits): OutputBudget {
  const { accountOutputMemoryBytes: account, islandOutputMemoryBytes: island, outputMemoryBytes: coordinator } = limits;
  return new Pool<OutputOwner>({ account, island, coordinator }, "account");
}

/** @param islandId null: for no Island. */
export function outputOwners(accountId: string, islandId: string | null): PoolKey<OutputOwner>[] {
  const island: PoolKey<OutputOwner>[] = islandId === null ? [] : [["island", islandId]];
  return [["account", accountId], ...island, ["coordinator"]];
}
