import { useEffect } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useResource } from "../../../app/resource.ts";
import type { AvailabilityBySlug } from "./availability.ts";

/**
 * Poll interval. No event reports that other accounts' Islands connect. The coordinator counts them at most every 5 s.
 */
const POLL_MS = 15_000;

export async function readAvailability(signal: AbortSignal): Promise<NonNullable<AvailabilityBySlug>> {
  const { data } = await api().cargos.availability({ signal });
  return new Map(data.map((cargo) => [cargo.slug, cargo]));
}

/** Returns which Cargos can run now. Polls while the page is visible. */
export function useAvailability(): AvailabilityBySlug {
  const { value, reload } = useResource(readAvailability, []);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), POLL_MS);
    return () => clearInterval(timer);
  }, []);
  return value ?? null;
}
