import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { writeFileDurably } from "../disk/durable-file.ts";

const FILE = "cargos.json";
const MAX_CARGOS = 10_000;
const namesSchema = z.object({ version: z.literal(1), cargos: z.array(z.tuple([z.string(), z.string()])) });

/**
 * Records for which Cargos files were downloaded, so that the owner can refer to them by slug. Jobs do not depend on
 * it.
 * @param directory the models' directory, which exists.
 */
export async function openCargoNames(directory: string) {
  const path = join(directory, FILE);
  const text = await readFile(path, "utf8").catch(() => "");
  const keys = new LRUCache<string, string>({ max: MAX_CARGOS });
  let writing: Promise<void> = Promise.resolve();
  for (const [slug, key] of readNames(text)) keys.set(slug, key);

  /** Records that the Cargo uses the artifact with this key. */
  function note(slug: string, key: string): void {
    if (keys.peek(slug) === key) return;
    keys.set(slug, key);
    // Without the list, `island models` shows keys instead of slugs.
    writing = writing.then(() => write()).catch(() => undefined);
  }

  function keyOf(slug: string): string | null {
    return keys.peek(slug) ?? null;
  }

  function cargosOf(key: string): string[] {
    return oldestFirst()
      .filter(([, each]) => each === key)
      .map(([slug]) => slug);
  }

  function close(): Promise<void> {
    return writing;
  }

  function oldestFirst(): [string, string][] {
    return [...keys].toReversed();
  }

  function write(): Promise<void> {
    return writeFileDurably(path, JSON.stringify({ version: 1, cargos: oldestFirst() }));
  }

  return { note, keyOf, cargosOf, close };
}

export type CargoNames = Awaited<ReturnType<typeof openCargoNames>>;

function readNames(text: string): [string, string][] {
  try {
    return namesSchema.parse(JSON.parse(text)).cargos;
  } catch {
    // The list does not exist yet, or is damaged.
    return [];
  }
}
