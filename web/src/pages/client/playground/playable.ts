import type { Cargo } from "@atoll/client";
import { api } from "../../../app/api.ts";

/** Cargos that the account can run, by name; those of its own that nobody else sees yet too. */
export async function loadPlayable(signal: AbortSignal): Promise<readonly Cargo[]> {
  const [shared, own] = await Promise.all([
    api().cargos.list({}, { signal }),
    api().cargos.listOwn({ pageSize: 100 }, { signal }).page(),
  ]);
  const listed = new Set(shared.map(({ slug }) => slug));
  const unlisted = own.data.filter(({ slug, enabled }) => enabled && !listed.has(slug));
  const details = await Promise.all(unlisted.map(({ slug }) => api().cargos.get(slug, { signal })));
  return [...shared, ...details].toSorted((a, b) => a.name.localeCompare(b.name));
}
