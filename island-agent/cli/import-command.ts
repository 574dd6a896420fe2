import { createHash, randomUUID } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { link, mkdir, open, realpath, rm, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { z } from "zod";
import { CliError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { describeDownload } from "../artifacts/describe-download.ts";
import { modelDirectoryOf } from "../artifacts/open-stores.ts";
import { readConfigFile } from "../config/config-file.ts";
import { resolveAgentConfig } from "../config/resolve-agent-config.ts";
import { lowDiskError } from "../disk/disk-budget.ts";
import { freeBytesOn } from "../disk/free-bytes.ts";
import { diskFailure, isOutOfSpace } from "../models/download/part-file.ts";
import { parseJson, readBody } from "../models/download/json-body.ts";
import { listModels, withAdoption, type ModelsLocation } from "./models-commands.ts";
import type { ProgressLine } from "./progress-bar.ts";

const MAX_RESPONSE_WAIT_MS = 30_000;
const MAX_RESPONSE_BYTES = 20_000_000;

const cargosSchema = z.object({
  cargos: z.array(z.object({ slug: z.string().max(100), model_sha256: z.string().nullable().optional() })),
});

/**
 * Runs `island models import`: imports a model file of this machine that a Cargo of the coordinator names by its hash.
 * The file is linked, or copied from another file system.
 * @returns a line for the user.
 * @throws {CliError}
 */
export async function importModel(location: ModelsLocation, given: string, progress: ProgressLine): Promise<string> {
  const { dataDirectory, env } = location;
  const { path, found } = await readSource(given);
  const { size } = found;
  const config = resolveAgentConfig({ flags: {}, env, file: await readConfigFile(dataDirectory) });
  const listed = await listCargos(config.coordinator.apiUrls);
  try {
    const sha256 = await hashFile(path, (bytes) => showBytes(progress, `reading ${given}`, bytes, size));
    const cargos = listed.filter((cargo) => cargo.model_sha256 === sha256).map(({ slug }) => slug);
    if (cargos.length === 0) {
      throw new CliError(
        `No Cargo of the coordinator has a model with the SHA-256 of ${given} (${sha256}). Check that it is the file that the Cargo names`,
      );
    }
    const names = cargos.join(", ");
    const isOnDisk = async (): Promise<boolean> =>
      (await listModels(location)).some(({ key, isWhole }) => key === sha256 && isWhole);
    const alreadyOnDisk = `The model of ${names} is already on disk`;
    if (await isOnDisk()) return alreadyOnDisk;
    const directory = modelDirectoryOf(dataDirectory);
    const { minFreeBytes } = config.models;
    // Without an agent, the store is opened before the file is staged, because it clears its directory when it opens.
    return await withAdoption(location, async (adopt) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const staged = join(directory, `import.${randomUUID()}.tmp`);
      try {
        const how = (await linkFile({ path, found }, staged))
          ? "as a hard link without extra space, so do not change the original file"
          : await copyFile(path, staged, { size, sha256, minFreeBytes }, progress);
        const extension = /^\.([a-z0-9]{1,8})$/.exec(extname(path).toLowerCase())?.[1] ?? "";
        const isNew = await adopt({ path: staged, sha256, extension, cargos });
        if (isNew) return `Imported ${formatBytes(size)} for ${names} (${how})`;
        if (await isOnDisk()) return alreadyOnDisk;
        throw new CliError(
          `The model of ${names} is being downloaded. Run island pause to stop downloads that no job waits for, then import it again`,
        );
      } finally {
        await rm(staged, { force: true });
      }
    });
  } finally {
    progress.stop();
  }
}

interface Source {
  readonly path: string;
  /** Stats from before the file was hashed. */
  readonly found: Stats;
}

/** Resolves symbolic links, because a hard link must name the file. @throws {CliError} if it does not exist. */
async function readSource(given: string): Promise<Source> {
  try {
    const path = await realpath(given);
    const found = await stat(path);
    if (!found.isFile()) throw new CliError(`${given}: must be a model file, such as a .gguf file`);
    return { path, found };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(code === "ENOENT" ? `${resolve(given)}: no such file` : `Cannot read ${given}: ${message}`);
  }
}

/** Returns the Cargos of the first coordinator that responds. @throws {CliError} */
async function listCargos(urls: readonly string[] | null): Promise<z.infer<typeof cargosSchema>["cargos"]> {
  if (urls === null)
    throw new CliError(
      "This Island has not joined a coordinator, so its Cargos are unknown. Join one with: island join URL",
    );
  for (const url of urls) {
    const signal = AbortSignal.timeout(MAX_RESPONSE_WAIT_MS);
    const response = await fetch(`${url}/api/v1/cargos`, { signal }).catch(() => null);
    if (response === null || !response.ok || response.body === null) continue;
    const text = await readBody(Readable.fromWeb(response.body), MAX_RESPONSE_BYTES, "the list of Cargos");
    const { data } = cargosSchema.safeParse(parseJson(text));
    if (data?.cargos.some((cargo) => cargo.model_sha256 !== undefined)) return data.cargos;
    throw new CliError(
      `${url} does not list the models of its Cargos, because its version is too old. Download the model with island models pull`,
    );
  }
  throw new CliError(`Cannot read the list of Cargos: no response from ${urls.join(", ")}. Try again later`);
}

function showBytes(progress: ProgressLine, what: string, bytes: number, totalBytes: number): void {
  progress.show(what, bytes / totalBytes, describeDownload({ receivedBytes: bytes, totalBytes }));
}

async function hashFile(path: string, onRead: (bytes: number) => void): Promise<string> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onRead((bytes += chunk.length));
  }
  return hash.digest("hex");
}

/**
 * Links the file. Returns false for a file of another file system or another user. @throws {CliError} when the file has
 * changed since it was hashed.
 */
async function linkFile({ path, found }: Source, to: string): Promise<boolean> {
  const isLinked = await link(path, to).then(
    () => true,
    () => false,
  );
  if (!isLinked) return false;
  const { ino, size, mtimeMs } = await stat(to);
  if (ino === found.ino && size === found.size && mtimeMs === found.mtimeMs) return true;
  throw hasChanged(path);
}

function hasChanged(path: string): CliError {
  return new CliError(`${path} changed while it was read. Import it when no program is writing to it`);
}

/**
 * Copies the file. @returns the method of the import, for the user. @throws {CliError} when the disk lacks space, or
 * the file has changed since it was hashed.
 */
async function copyFile(
  path: string,
  to: string,
  { size, sha256, minFreeBytes }: { readonly size: number; readonly sha256: string; readonly minFreeBytes: number },
  progress: ProgressLine,
): Promise<string> {
  const free = freeBytesOn(dirname(to));
  if (free !== null && free - minFreeBytes < size) {
    throw new CliError(lowDiskError("model", size, free, minFreeBytes).message);
  }
  const hash = createHash("sha256");
  const file = await open(to, "wx", 0o600);
  try {
    let bytes = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      await file.appendFile(chunk);
      showBytes(progress, `copying ${path}`, (bytes += chunk.length), size);
    }
    await file.sync();
  } catch (error) {
    throw isOutOfSpace(error) ? new CliError(diskFailure(error).message) : error;
  } finally {
    await file.close();
  }
  if (hash.digest("hex") !== sha256) throw hasChanged(path);
  return "copied, because it is on another file system";
}
