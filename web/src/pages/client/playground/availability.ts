import type { Availability } from "@atoll/client";

/** Availability of Cargos by slug; null while it is not known. */
export type AvailabilityBySlug = ReadonlyMap<string, Availability["data"][number]> | null;

export interface AvailabilityWords {
  readonly text: string;
  readonly tone: "good" | "waiting" | "neutral";
}

/** Describes in words whether a Cargo can run now; null while that is not known. */
export function describeAvailability(known: AvailabilityBySlug, slug: string): AvailabilityWords | null {
  if (known === null) return null;
  const { islands, ready, free } = known.get(slug) ?? { islands: 0, ready: 0, free: 0 };
  if (islands === 0) return { text: "no Island available", tone: "waiting" };
  const count = islands === 1 ? "1 Island" : `${islands} Islands`;
  if (free === 0) return { text: `on ${count}, all busy`, tone: "waiting" };
  if (ready === 0) return { text: `on ${count}, needs a download`, tone: "neutral" };
  return { text: `ready on ${ready === 1 ? "1 Island" : `${ready} Islands`}`, tone: "good" };
}

/** Returns the first Cargo that can run at once, else the first that can run, else the first. */
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
