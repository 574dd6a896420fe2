import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CargoFile } from "./cargo-fields.ts";
import { readCargoFile } from "./cargo-file.ts";
import type { DefaultSlugs } from "../config/default-cargo-settings.ts";
import { defaultProblems } from "./model-kind.ts";

/** The catalog on disk is invalid. Each line of the message names a problem: the file, the field and what is wrong. */
export class CatalogError extends Error {
  override readonly name = "CatalogError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.problems = problems;
  }
}

/**
 * Reads and validates the files `<directory>/cargos/*.json`.
 * @param defaults slugs that the operator set as defaults for requests without a model
 * @throws {CatalogError} with all problems; also if there is no Cargo, or a default is missing or of another kind
 */
export async function readShippedCargos(directory: string, defaults: DefaultSlugs): Promise<CargoFile[]> {
  const folder = join(directory, "cargos");
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
  if (problems.length === 0 && cargos.length === 0) problems.push(`${folder}: has no Cargo files (*.json)`);
  if (problems.length === 0) problems.push(...defaultProblems(cargos, defaults));
  if (problems.length > 0) throw new CatalogError(problems);
  return cargos;
}

async function listFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  } catch (error) {
    throw new CatalogError([`${folder}: ${error instanceof Error ? error.message : String(error)}`], { cause: error });
  }
}
