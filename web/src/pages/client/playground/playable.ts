import type { Cargo } from "@atoll/client";
import { api } from "../../../app/api.ts";

/** Reads the Cargos that the account can run, sorted by name. Includes its own Cargos that are not listed for others. */
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
