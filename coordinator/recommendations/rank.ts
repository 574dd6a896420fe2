/** How much a Cargo is wanted now, and how far it is spread. */
export interface CargoDemand {
  readonly slug: string;
  /** Jobs that wait. */
  readonly queued: number;
  /** Jobs completed in the last hour. */
  readonly recentCompletions: number;
  /** Other online Islands that have its model or image. */
  readonly holders: number;
}

export type Ranked<T extends CargoDemand> = T & { readonly demandScore: number };

/** Weights: spec §2. The hour behind `recentCompletions` is ours (DESIGN §4). */
export function demandScore({ queued, recentCompletions }: Pick<CargoDemand, "queued" | "recentCompletions">): number {
  return queued * 10 + recentCompletions * 2;
}

/**
 * Most wanted first; of equal scores what fewer Islands hold, so that what nobody asked for yet is there when somebody does.
 * Then by slug: the same demand always gives the same list.
 */
export function rankCargos<T extends CargoDemand>(demands: readonly T[]): Ranked<T>[] {
  return demands
    .map((demand) => ({ ...demand, demandScore: demandScore(demand) }))
    .sort((a, b) => b.demandScore - a.demandScore || a.holders - b.holders || compareSlugs(a.slug, b.slug));
}

function compareSlugs(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
