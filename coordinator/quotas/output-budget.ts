/** Bytes of output of unfinished jobs that may be in memory. */
export interface OutputMemoryLimits {
  readonly outputMemoryBytes: number;
  readonly accountOutputMemoryBytes: number;
  readonly islandOutputMemoryBytes: number;
}

/** Whose budget refuses output. */
export type FullBudget = "account" | "island" | "coordinator";

/** Counts the output of unfinished jobs that is in memory: of each account, of each Island for the jobs that it runs, and of all. */
export class OutputBudget {
  readonly #limits: OutputMemoryLimits;
  readonly #accounts = new Map<string, number>();
  readonly #islands = new Map<string, number>();
  #total = 0;

  constructor(limits: OutputMemoryLimits) {
    this.#limits = limits;
  }

  /**
   * Which budget has no room for so much more; null when there is room. When that of the coordinator is used up, accounts within their
   * equal share of it may still grow, so that one account's output never stops another's.
   */
  fullFor(accountId: string, islandId: string | null, bytes: number): FullBudget | null {
    if (bytes === 0) return null;
    const { outputMemoryBytes, accountOutputMemoryBytes, islandOutputMemoryBytes } = this.#limits;
    const ofAccount = (this.#accounts.get(accountId) ?? 0) + bytes;
    if (ofAccount > accountOutputMemoryBytes) return "account";
    const ofIsland = islandId === null ? 0 : (this.#islands.get(islandId) ?? 0) + bytes;
    if (ofIsland > islandOutputMemoryBytes) return "island";
    if (this.#total + bytes <= outputMemoryBytes) return null;
    const accounts = this.#accounts.size + (this.#accounts.has(accountId) ? 0 : 1);
    return ofAccount > outputMemoryBytes / accounts ? "coordinator" : null;
  }

  /** Counts output; a negative number gives it back. */
  add(accountId: string, islandId: string | null, bytes: number): void {
    this.#total += bytes;
    change(this.#accounts, accountId, bytes);
    this.addForIsland(islandId, bytes);
  }

  /** Counts for the Island alone. */
  addForIsland(islandId: string | null, bytes: number): void {
    if (islandId !== null) change(this.#islands, islandId, bytes);
  }
}

function change(counts: Map<string, number>, key: string, bytes: number): void {
  const count = (counts.get(key) ?? 0) + bytes;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
