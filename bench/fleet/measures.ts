import { partOf, type Fleet } from "./fleets.ts";
import type { Outcome } from "./run-fleet.ts";

export interface Measures {
  readonly meanMs: number;
  readonly p95Ms: number;
  readonly readTokens: number;
  /** Least and most output tokens of an Island, divided by its part of the capacity. */
  readonly leastWork: number;
  readonly mostWork: number;
  /** Output tokens of the Island that joined from the 100th chat after it joined, divided by its part of the capacity. */
  readonly newcomerPart: number | null;
}

const NEWCOMER_AFTER = 100;

export function measure(fleet: Fleet, { ended, readTokens, changedAt }: Outcome): Measures {
  const measured = ended.filter(({ nth }) => nth >= (fleet.warmUp ?? 0) * fleet.chats);
  const times = measured.map(({ ms }) => ms).sort((a, b) => a - b);
  const plans = fleet.islands;
  const total = measured.reduce((sum, { tokens }) => sum + tokens, 0);
  const tokensOf = new Map<string, number>();
  for (const { islandId, tokens } of measured) tokensOf.set(islandId, (tokensOf.get(islandId) ?? 0) + tokens);
  const works = plans.map((plan) => (tokensOf.get(plan.id) ?? 0) / total / partOf(plan, fleet));
  return {
    meanMs: times.reduce((sum, ms) => sum + ms, 0) / times.length,
    p95Ms: times[Math.floor(0.95 * times.length)] ?? Number.NaN,
    readTokens,
    leastWork: Math.min(...works),
    mostWork: Math.max(...works),
    newcomerPart: newcomerPart(fleet, ended, changedAt),
  };
}

function newcomerPart(fleet: Fleet, ended: Outcome["ended"], changedAt: number | null): number | null {
  const joins = fleet.change?.joins;
  if (joins === undefined || changedAt === null) return null;
  const later = ended.filter(({ nth }) => nth >= changedAt + NEWCOMER_AFTER && nth < changedAt + 5 * NEWCOMER_AFTER);
  const tokens = (list: Outcome["ended"]): number => list.reduce((sum, each) => sum + each.tokens, 0);
  return tokens(later.filter(({ islandId }) => islandId === joins.id)) / tokens(later) / partOf(joins, fleet);
}
