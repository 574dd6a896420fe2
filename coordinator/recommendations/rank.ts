/** The demand for a Cargo, and how many Islands have it. */
export interface CargoDemand {
  readonly slug: string;
  /** Waiting jobs. */
  readonly queued: number;
  /** Jobs completed in the last hour. */
  readonly recentCompletions: number;
  /** Other online Islands that have its model or image. */
  readonly holders: number;
  /** For chats without a model. */
  readonly isDefault: boolean;
}

export type Ranked<T extends CargoDemand> = T & { readonly demandScore: number };

/** Weights: spec §2. The hour behind `recentCompletions` is ours (DESIGN §4). */
export function demandScore({ queued, recentCompletions }: Pick<CargoDemand, "queued" | "recentCompletions">): number {
  return queued * 10 + recentCompletions * 2;
}

/**
 * Highest demand first; at equal scores the default Cargo, then the one that fewer Islands have, so that rare Cargos spread; then by
 * slug, so that the same demand always gives the same list.
 */
export function rankCargos<T extends CargoDemand>(demands: readonly T[]): Ranked<T>[] {
  return demands
    .map((demand) => ({ ...demand, demandScore: demandScore(demand) }))
    .sort(
      (a, b) =>
        b.demandScore - a.demandScore ||
        Number(b.isDefault) - Number(a.isDefault) ||
        a.holders - b.holders ||
        compareSlugs(a.slug, b.slug),
    );
}

function compareSlugs(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
