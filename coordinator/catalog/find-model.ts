import { ServiceError } from "../../shared/errors.ts";
import { modelKindOf, type ModelKind } from "./model-kind.ts";
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

type Defaults = Pick<Catalog, "defaultSlug" | "defaultChatSlug">;

/** What an endpoint needs of a model. */
export interface ModelNeed {
  readonly isMet: (cargo: CatalogEntry) => boolean;
  /** Of a request that names none. @throws {ServiceError} `cargo_not_found` */
  readonly defaultIn: (catalog: Defaults) => string;
  /** Ends the sentence "The model does not …". */
  readonly verb: string;
}

/** Where models of a kind are asked. */
const PATHS: Readonly<Record<ModelKind, string>> = {
  chat: "/chat/completions",
  embedding: "/embeddings",
  rerank: "/rerank",
  classification: "/moderations",
  image: "/images/generations",
  transcription: "/audio/transcriptions",
  speech: "/audio/speech",
};

/** As `findModel`. @throws {ServiceError} `cargo_not_found`, also for a Cargo of another kind */
export async function findModelFor(
  { isMet, defaultIn, verb }: ModelNeed,
  catalog: Parameters<typeof findModel>[0] & Defaults,
  asked: string | null | undefined,
  accountId: string,
): Promise<CatalogEntry> {
  const name = asked ?? defaultIn(catalog);
  const cargo = await findModel(catalog, name, accountId);
  if (cargo !== undefined && isMet(cargo)) return cargo;
  if (cargo === undefined) throw noModel(name);
  const kind = modelKindOf(cargo);
  const use = kind === null ? "runs as a job (POST /jobs) only" : `is for ${PATHS[kind]}`;
  throw new ServiceError("cargo_not_found", `The model "${name}" does not ${verb}; it ${use}`);
}

export function noModel(name: string): ServiceError {
  return new ServiceError("cargo_not_found", `There is no model "${name}"; GET /models lists those that you may use`);
}

export const CHATS: ModelNeed = {
  isMet: ({ isChat }) => isChat,
  defaultIn: (catalog) => catalog.defaultChatSlug,
  verb: "chat",
};
