import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readModelIndex, type IndexedModel } from "./model-index.ts";
import { partPath, readPartFacts, removePart } from "../download/part-file.ts";

/** An interrupted download that can be resumed. */
export interface IdlePart {
  readonly key: string;
  readonly bytes: number;
  readonly lastUsedMs: number;
}

export interface RecoveredStore {
  readonly models: readonly IndexedModel[];
  readonly parts: readonly IdlePart[];
}

/**
 * Files that a store creates: `<hash>[.extension]`, `<hash>.part`, `<hash>.part.json`, and temporary files of these,
 * the index, the names, and imports.
 */
const OWN_FILE =
  /^(?:([0-9a-f]{64})(\.[a-z0-9]{1,8}|\.part\.json)?|(?:(?:index|cargos|[0-9a-f]{64}\.part)\.json|import)\.[0-9a-f-]{36}\.tmp)$/;

/** Returns the name of a key's files without extension. A key may be any text; its hash is safe in a file name. */
export function stemOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Returns the name of the finished file of a key. @param extension without the dot; may be empty. */
export function fileNameOf(key: string, extension: string): string {
  return extension === "" ? stemOf(key) : `${stemOf(key)}.${extension}`;
}

/**
 * Reads a store's directory after a stop or a crash. Drops models whose file is missing or has a different length,
 * adopts verified files that the index lacks, keeps parts that can be resumed, and deletes the store's other files.
 * Files that a store does not create are left unchanged.
 */
export async function recoverStore(directory: string, nowMs: number): Promise<RecoveredStore> {
  const indexed = new Map((await readModelIndex(directory)).map((model) => [model.file, model]));
  const names = await readdir(directory);
  const models: IndexedModel[] = [];
  const parts: IdlePart[] = [];
  for (const name of names) {
    const match = OWN_FILE.exec(name);
    if (match === null) continue;
    const [, stem, ending] = match;
    const path = join(directory, name);
    if (stem === undefined) await rm(path, { force: true });
    else if (ending === ".part") parts.push(...(await recoverPart(directory, stem)));
    else if (ending !== ".part.json") {
      const model = await recoverModel(directory, stem, name, indexed.get(name), nowMs);
      if (model === null) await rm(path, { force: true });
      else models.push(model);
    }
  }
  const keptParts = parts.filter(({ key }) => !models.some((model) => model.key === key));
  const keptStems = new Set(keptParts.map(({ key }) => stemOf(key)));
  for (const name of names) {
    const stem = /^([0-9a-f]{64})\.part(?:\.json)?$/.exec(name)?.[1];
    if (stem !== undefined && !keptStems.has(stem)) await removePart(join(directory, stem));
  }
  return { models, parts: keptParts };
}

async function recoverPart(directory: string, stem: string): Promise<IdlePart[]> {
  const facts = await readPartFacts(join(directory, stem));
  const { size, mtimeMs } = await stat(partPath(join(directory, stem)));
  const isUsable = facts !== null && stemOf(facts.key) === stem && size > 0;
  return isUsable ? [{ key: facts.key, bytes: size, lastUsedMs: mtimeMs }] : [];
}

async function recoverModel(
  directory: string,
  stem: string,
  file: string,
  indexed: IndexedModel | undefined,
  nowMs: number,
): Promise<IndexedModel | null> {
  const { size } = await stat(join(directory, file));
  if (indexed !== undefined) return size === indexed.bytes && stemOf(indexed.key) === stem ? indexed : null;
  // A part gets its final name only after verification. If its facts still exist, the index was not written in time.
  const facts = await readPartFacts(join(directory, stem));
  const isAdoptable = facts !== null && stemOf(facts.key) === stem && size === (facts.totalBytes ?? size);
  return isAdoptable ? { key: facts.key, file, bytes: size, lastUsedMs: nowMs } : null;
}
