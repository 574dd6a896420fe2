import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { writeFileDurably } from "../disk/durable-file.ts";

const FILE = "cargos.json";
const MAX_CARGOS = 10_000;
const namesSchema = z.object({ version: z.literal(1), cargos: z.array(z.tuple([z.string(), z.string()])) });

/** Remembers for which Cargos files were downloaded, so that the owner can refer to them by slug. Nothing that runs depends on it. */
export class CargoNames {
  readonly #path: string;
  /** Cache key by slug. */
  readonly #keys = new LRUCache<string, string>({ max: MAX_CARGOS });
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, oldestFirst: readonly [string, string][]) {
    this.#path = path;
    for (const [slug, key] of oldestFirst) this.#keys.set(slug, key);
  }

  /** @param directory the models' directory, which exists. */
  static async open(directory: string): Promise<CargoNames> {
    const path = join(directory, FILE);
    const text = await readFile(path, "utf8").catch(() => "");
    return new CargoNames(path, readNames(text));
  }

  /** The Cargo now uses the artifact with this key. */
  note(slug: string, key: string): void {
    if (this.#keys.peek(slug) === key) return;
    this.#keys.set(slug, key);
    // Without the list, `island models` shows keys in place of slugs.
    this.#writing = this.#writing.then(() => this.#write()).catch(() => undefined);
  }

  keyOf(slug: string): string | null {
    return this.#keys.peek(slug) ?? null;
  }

  /** Slugs of the Cargos that have this key. */
  cargosOf(key: string): string[] {
    return this.#oldestFirst()
      .filter(([, each]) => each === key)
      .map(([slug]) => slug);
  }

  /** Waits until all is written. */
  close(): Promise<void> {
    return this.#writing;
  }

  #oldestFirst(): [string, string][] {
    return [...this.#keys].toReversed();
  }

  #write(): Promise<void> {
    return writeFileDurably(this.#path, JSON.stringify({ version: 1, cargos: this.#oldestFirst() }));
  }
}

function readNames(text: string): [string, string][] {
  try {
    return namesSchema.parse(JSON.parse(text)).cargos;
  } catch {
    // No list yet, or a damaged one.
    return [];
  }
}
