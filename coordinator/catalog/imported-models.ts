import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, copyFile, mkdir, open, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { RUNTIME_TYPES, type RuntimeType } from "../../shared/cargo.ts";
import { ServiceError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { RUNTIMES } from "./runtimes.ts";

/** Number of hash digits in a file name. */
const HASH_DIGITS = 16;

/** Returns the folder for model files of imported Cargos, which package upgrades leave unchanged. */
export function importedModelsDirectory({ dataDirectory }: { readonly dataDirectory: string }): string {
  return join(dataDirectory, "models");
}

/** Returns the name of a model's file in that folder. It contains slug and hash, so that earlier jobs find their file. */
export function importedFileName(slug: string, sha256: string, runtimeType: RuntimeType): string {
  return `${slug}-${sha256.slice(0, HASH_DIGITS)}.${RUNTIMES[runtimeType].file?.ending}`;
}

export interface StoredModel {
  readonly path: string;
  readonly model: { readonly url: string; readonly sha256: string; readonly size_bytes: number };
  /** Whether the file was copied; false if the same content was already stored. */
  readonly isNew: boolean;
}

/**
 * Copies a model file to where the coordinator serves it.
 * @param known SHA-256 that the file must have, if it was read before
 * @throws {ServiceError} `bad_request` for another format, an empty file, too little space, or a file that changes.
 * @throws file system errors
 */
export async function storeModelFile(
  source: string,
  slug: string,
  runtimeType: RuntimeType,
  directory: string,
  minFreeBytes: number,
  known?: string,
): Promise<StoredModel> {
  const { size } = await assertFormat(source, runtimeType);
  const sha256 = known ?? (await hashOfFile(source));
  const name = importedFileName(slug, sha256, runtimeType);
  const path = join(directory, name);
  const stored = { path, model: { url: `/models/${name}`, sha256, size_bytes: size } };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await stat(path).catch(() => null);
  if (found?.size === size && (await hashOfFile(path)) === sha256) return { ...stored, isNew: false };
  const { bavail, bsize } = await statfs(directory);
  const freeBytes = bavail * bsize;
  if (freeBytes < size + minFreeBytes) {
    const need = `${formatBytes(size)}, and ${formatBytes(minFreeBytes)} must stay free (min_free_disk_mb). Free some space`;
    throw new ServiceError(
      "bad_request",
      `Not enough space in ${directory}: ${formatBytes(freeBytes)} are free, but ${source} needs ${need}`,
    );
  }
  const part = `${path}.part`;
  try {
    await copyFile(source, part);
    if ((await hashOfFile(part)) !== sha256) {
      throw new ServiceError("bad_request", `${source} changed while it was copied. Repeat the command`);
    }
    // Set the mode of the copy, because only the coordinator reads it. Islands download it from the coordinator.
    await chmod(part, 0o600);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return { ...stored, isNew: true };
}

async function assertFormat(source: string, runtimeType: RuntimeType): Promise<{ size: number }> {
  const { file: format } = RUNTIMES[runtimeType];
  if (format === undefined) {
    const others = RUNTIME_TYPES.filter((type) => RUNTIMES[type].file !== undefined).join(", ");
    const text = `--file: only possible for ${others} Cargos, not for ${runtimeType}`;
    throw new ServiceError("bad_request", text);
  }
  const facts = await stat(source);
  if (!facts.isFile() || facts.size === 0)
    throw new ServiceError("bad_request", `${source}: must be a .${format.ending} file that is not empty`);
  if (format.magic === null) {
    if (source.endsWith(`.${format.ending}`)) return facts;
    throw new ServiceError(
      "bad_request",
      `${source}: must have the extension .${format.ending} for a ${runtimeType} Cargo`,
    );
  }
  const file = await open(source);
  try {
    const { buffer } = await file.read(Buffer.alloc(format.magic.length), 0, format.magic.length, 0);
    if (buffer.equals(format.magic)) return facts;
  } finally {
    await file.close();
  }
  const text = `${source}: must be a ${format.ending} file for a ${runtimeType} Cargo, but its first bytes differ`;
  throw new ServiceError("bad_request", text);
}

export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
