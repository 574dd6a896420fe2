import type { Availability } from "@atoll/client";

/** By slug; null: not known yet. */
export type AvailabilityBySlug = ReadonlyMap<string, Availability["data"][number]> | null;

export interface AvailabilityWords {
  readonly text: string;
  readonly tone: "good" | "waiting" | "neutral";
}

/** What someone who wants to run the Cargo should know; null while nothing is known. */
export function describeAvailability(known: AvailabilityBySlug, slug: string): AvailabilityWords | null {
  if (known === null) return null;
  const { islands, ready, free } = known.get(slug) ?? { islands: 0, ready: 0, free: 0 };
  if (islands === 0) return { text: "no Island can run it now", tone: "waiting" };
  const count = islands === 1 ? "1 Island" : `${islands} Islands`;
  if (free === 0) return { text: `on ${count}, all busy`, tone: "waiting" };
  if (ready === 0) return { text: `on ${count}, after a download`, tone: "neutral" };
  return { text: `ready on ${ready === 1 ? "1 Island" : `${ready} Islands`}`, tone: "good" };
}

/** The first that can run at once, else that can run, else the first. */
export function mostAvailable<T extends { readonly slug: string }>(
  cargos: readonly T[],
  known: AvailabilityBySlug,
): T | undefined {
  const has = (read: (cargo: Availability["data"][number]) => number) =>
    cargos.find(({ slug }) => {
      const cargo = known?.get(slug);
      return cargo !== undefined && read(cargo) > 0;
    });
  return has(({ ready, free }) => Math.min(ready, free)) ?? has(({ islands }) => islands) ?? cargos[0];
}
