import { ServiceError } from "../../shared/errors.ts";
import type { DefaultKind } from "../config/default-cargo-settings.ts";
import type { Catalog, CatalogEntry } from "./catalog.ts";
import { isFit, MODEL_PATHS, modelKindOf, NEEDS } from "./model-kind.ts";

/**
 * Finds the Cargo whose slug is `name`, otherwise the one with this alias; undefined if there is neither.
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

/**
 * Finds the Cargo for a request of a kind.
 * @param asked model name of the request; if absent, the default of the kind is used
 * @throws {ServiceError} `cargo_not_found` if there is no such Cargo or it does not suit the kind
 */
export async function findModelFor(
  need: DefaultKind,
  catalog: Parameters<typeof findModel>[0] & Pick<Catalog, "defaultSlug">,
  asked: string | null | undefined,
  accountId: string,
): Promise<CatalogEntry> {
  const name = asked ?? catalog.defaultSlug(need);
  const cargo = await findModel(catalog, name, accountId);
  if (cargo === undefined) throw noModel(name);
  if (isFit(need, cargo)) return cargo;
  const kind = modelKindOf(cargo);
  const use = kind === null ? "runs as a job (POST /jobs) only" : `is for ${MODEL_PATHS[kind]}`;
  throw new ServiceError("cargo_not_found", `The model "${name}" does not ${NEEDS[need].verb}; it ${use}`);
}

export function noModel(name: string): ServiceError {
  return new ServiceError("cargo_not_found", `There is no model "${name}"; GET /models lists those that you may use`);
}
