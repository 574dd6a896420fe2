/** How much a Cargo is wanted now. */
export interface CargoDemand {
  readonly slug: string;
  /** Jobs that wait. */
  readonly queued: number;
  /** Jobs completed in the last hour. */
  readonly recentCompletions: number;
}

export type Ranked<T extends CargoDemand> = T & { readonly demandScore: number };

/** Orders Cargos whose scores are equal: negative puts `a` first. */
export type TieBreak = (a: CargoDemand, b: CargoDemand) => number;

/** Weights: spec §2. The hour behind `recentCompletions` is ours (DESIGN §4). */
export function demandScore({ queued, recentCompletions }: Pick<CargoDemand, "queued" | "recentCompletions">): number {
  return queued * 10 + recentCompletions * 2;
}

/**
 * Most wanted first. Equal scores go by `breakTie`, then by slug, so that the same demand always gives the same list.
 * @param breakTie where "what few Islands hold first" will go; by default nothing comes before the slug.
 */
export function rankCargos<T extends CargoDemand>(demands: readonly T[], breakTie: TieBreak = () => 0): Ranked<T>[] {
  return demands
    .map((demand) => ({ ...demand, demandScore: demandScore(demand) }))
    .sort((a, b) => b.demandScore - a.demandScore || breakTie(a, b) || compareSlugs(a.slug, b.slug));
}

function compareSlugs(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
