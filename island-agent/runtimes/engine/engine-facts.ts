import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { IndexFileWriter, readIndexFile } from "../../disk/index-file.ts";
import type { EngineConnection } from "./engine-connection.ts";
import { isLoopback } from "../../../shared/net/loopback.ts";
import type { EngineModel, EngineProfile } from "./engine-profile.ts";

/** Facts that take long to find out: SHA-256 of model files, by path, size and time of change. A restart keeps them. */
const factsSchema = z.object({ hashes: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)) });

const MAX_HASHES = 1_000;

/** Opens the facts of a data directory. @throws on a disk error. */
export async function openEngineFacts(dataDirectory: string) {
  const path = join(dataDirectory, "engines.json");
  const { hashes } = (await readIndexFile(path, factsSchema)) ?? { hashes: {} };
  const file = new IndexFileWriter(path, () => ({ hashes }));

  /** Returns the SHA-256 of a file in hex, or null if this process cannot read it. Reads each version of it once. */
  async function hashOf(modelPath: string, signal: AbortSignal): Promise<string | null> {
    const version = await versionOf(modelPath);
    if (version === null) return null;
    const known = hashes[version];
    if (known !== undefined) return known;
    const hash = createHash("sha256");
    try {
      await pipeline(createReadStream(modelPath), hash, { signal });
    } catch {
      signal.throwIfAborted();
      return null;
    }
    // The engine may have loaded a file that was replaced during the read.
    if ((await versionOf(modelPath)) !== version) return null;
    const sha256 = hash.digest("hex");
    hashes[version] = sha256;
    const [oldest = version] = Object.keys(hashes);
    if (Object.keys(hashes).length > MAX_HASHES) delete hashes[oldest];
    await file.write();
    return sha256;
  }

  return { hashOf };
}

export type EngineFacts = Awaited<ReturnType<typeof openEngineFacts>>;

/**
 * Reads the engine's models. A path proves something only if it is the engine's and this process' own: on this machine,
 * and from its root. @param known as in {@link EngineProfile}.
 */
export async function readModels(
  profile: EngineProfile,
  { read, url }: Pick<EngineConnection, "read" | "url">,
  known: readonly EngineModel[],
): Promise<readonly EngineModel[]> {
  const models = await profile.models(read, known);
  return Promise.all(
    models.map(async (model) => {
      if (model.proof?.kind !== "file") return model;
      const { path } = model.proof;
      return isLoopback(new URL(url).hostname) && isAbsolute(path)
        ? { ...model, version: await versionOf(path) }
        : { ...model, proof: null };
    }),
  );
}

/** Returns a text that changes with the file's content; null if this process finds no such file. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const file = await stat(path);
    // A device or a pipe has no end.
    return file.isFile() ? `${path} ${file.size} ${file.mtimeMs} ${file.ino}` : null;
  } catch {
    return null;
  }
}
