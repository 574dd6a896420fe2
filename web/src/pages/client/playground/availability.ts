import type { Availability } from "@atoll/client";
import { useEffect } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useResource } from "../../../app/resource.ts";

/** By slug; null: not known yet, or not asked. */
export type AvailabilityBySlug = ReadonlyMap<string, Availability["data"][number]> | null;

/** Islands of others come and go without an event; the coordinator counts them at most once in 5 s. */
const ASK_MS = 15_000;

export async function readAvailability(signal: AbortSignal): Promise<NonNullable<AvailabilityBySlug>> {
  const { data } = await api().cargos.availability({ signal });
  return new Map(data.map((cargo) => [cargo.slug, cargo]));
}

/** Which Cargos can run now, asked for while the page is looked at. */
export function useAvailability(): AvailabilityBySlug {
  const { value, reload } = useResource(readAvailability, []);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), ASK_MS);
    return () => clearInterval(timer);
  }, []);
  return value ?? null;
}

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
  if (free === 0) return { text: `${count}, all busy`, tone: "waiting" };
  if (ready === 0) return { text: `${count}, fetched first`, tone: "neutral" };
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
