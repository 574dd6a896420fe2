import type { Catalog, CatalogEntry } from "./catalog.ts";

/**
 * The Cargo that a client means by `name`: the Cargo with this slug, else the target of the operator's alias (setting `model_aliases`).
 * An alias never hides a Cargo that the account may run. Undefined if there is neither.
 * @throws {ServiceError} `storage_unavailable`
 */
export async function findModel(
  catalog: Pick<Catalog, "find" | "seek" | "aliases">,
  name: string,
  accountId: string,
): Promise<CatalogEntry | undefined> {
  const cargo = catalog.find(name, accountId);
  if (cargo !== undefined) return cargo;
  const slug = catalog.aliases.get(name) ?? name;
  return catalog.find(slug, accountId) ?? (await catalog.seek(slug, accountId));
}
