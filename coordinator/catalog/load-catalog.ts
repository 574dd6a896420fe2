import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CargoFile } from "./cargo-fields.ts";
import { isChatFile } from "./cargo-rules.ts";
import { readCargoFile } from "./cargo-file.ts";

/** The catalog on disk is invalid. One line per problem: file, field, what is wrong. */
export class CatalogError extends Error {
  override readonly name = "CatalogError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.problems = problems;
  }
}

/**
 * Reads `<directory>/cargos/*.json`.
 * @param defaultChatSlug slug of the chat Cargo for chat requests that name no model.
 * @throws {CatalogError} with all problems of all files; also if there is no Cargo, or the default is not a chat Cargo.
 */
export async function readShippedCargos(directory: string, defaultChatSlug: string): Promise<CargoFile[]> {
  const cargos = await readCargos(join(directory, "cargos"));
  const problem = defaultProblem(cargos, defaultChatSlug);
  if (problem !== null) throw new CatalogError([problem]);
  return cargos;
}

async function readCargos(folder: string): Promise<CargoFile[]> {
  const problems: string[] = [];
  const fileOfSlug = new Map<string, string>();
  const cargos: CargoFile[] = [];
  for (const name of await listFiles(folder)) {
    const path = join(folder, name);
    const read = readCargoFile(await readFile(path, "utf8"));
    if ("errors" in read) {
      problems.push(...read.errors.map((error) => [path, error.path, error.message].filter(Boolean).join(": ")));
      continue;
    }
    const { slug } = read.file;
    const earlier = fileOfSlug.get(slug);
    if (earlier !== undefined) problems.push(`${path}: slug: "${slug}" is also the slug of ${earlier}`);
    fileOfSlug.set(slug, path);
    cargos.push(read.file);
  }
  if (problems.length > 0) throw new CatalogError(problems);
  if (cargos.length === 0) throw new CatalogError([`${folder}: has no Cargo files (*.json)`]);
  return cargos;
}

async function listFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  } catch (error) {
    throw new CatalogError([`${folder}: ${error instanceof Error ? error.message : String(error)}`], { cause: error });
  }
}

function defaultProblem(cargos: readonly CargoFile[], slug: string): string | null {
  const cargo = cargos.find((file) => file.slug === slug);
  if (cargo !== undefined && isChatFile(cargo)) return null;
  const chats = cargos.filter(isChatFile).map((file) => file.slug);
  const why = cargo === undefined ? "is not in the catalog" : "is not a chat Cargo";
  return `default_chat_cargo: "${slug}" ${why}; chat Cargos: ${chats.join(", ") || "none"}`;
}
