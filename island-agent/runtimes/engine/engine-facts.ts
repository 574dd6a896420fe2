import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { IndexFileWriter, readIndexFile } from "../../disk/index-file.ts";
import type { EngineConnection } from "./engine-connection.ts";
import type { EngineModel, EngineProfile } from "./engine-profile.ts";

/** Facts that take long to find out. A restart of the agent keeps them. */
const factsSchema = z.object({
  /** SHA-256 of model files, by path, size and time of change. */
  hashes: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
  /** Measured numbers of slots, by address and model. */
  slots: z.record(z.string(), z.number().int().min(1)),
});

/** Maximum number of facts of a kind. */
const MAX_FACTS = 1_000;

/** Opens the facts of a data directory. @throws on a disk error. */
export async function openEngineFacts(dataDirectory: string) {
  const path = join(dataDirectory, "engines.json");
  const { hashes, slots } = (await readIndexFile(path, factsSchema)) ?? { hashes: {}, slots: {} };
  const file = new IndexFileWriter(path, () => ({ hashes, slots }));

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
    keep(hashes, version, sha256);
    await file.write();
    return sha256;
  }

  return {
    hashOf,
    slotsOf: (key: string): number | null => slots[key] ?? null,
    noteSlots: async (key: string, measured: number): Promise<void> => {
      keep(slots, key, measured);
      await file.write();
    },
  };
}

export type EngineFacts = Awaited<ReturnType<typeof openEngineFacts>>;

/** Adds a fact, and drops the oldest above the limit. */
function keep<T>(facts: Record<string, T>, key: string, fact: T): void {
  facts[key] = fact;
  const [oldest] = Object.keys(facts);
  if (oldest !== undefined && Object.keys(facts).length > MAX_FACTS) delete facts[oldest];
}

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
      return isLoopback(url) && isAbsolute(path)
        ? { ...model, version: await versionOf(path) }
        : { ...model, proof: null };
    }),
  );
}

export function isLoopback(url: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname);
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
