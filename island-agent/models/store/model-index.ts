import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileDurably } from "../../disk/durable-file.ts";

const INDEX_FILE = "index.json";

const indexedModelSchema = z.object({
  key: z.string().min(1),
  /** Name inside the store's directory: the key's hash and an ending, never a path. */
  file: z.string().regex(/^[0-9a-f]{64}(?:\.[a-z0-9]{1,8})?$/),
  bytes: z.number().int().nonnegative(),
  lastUsedMs: z.number().nonnegative(),
});
/** A finished model, as the index file keeps it. */
export type IndexedModel = z.infer<typeof indexedModelSchema>;

const indexSchema = z.object({ version: z.literal(1), models: z.array(indexedModelSchema) });

/** The models of a store's index; none when there is no index or it is damaged (it is written in one step). */
export async function readModelIndex(directory: string): Promise<IndexedModel[]> {
  try {
    const parsed = indexSchema.safeParse(JSON.parse(await readFile(join(directory, INDEX_FILE), "utf8")));
    return parsed.success ? parsed.data.models : [];
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Writes the index after every change, one write at a time; changes that come during a write share the next one.
 * `snapshot` is read when a write begins.
 */
export class ModelIndexWriter {
  readonly #path: string;
  readonly #snapshot: () => readonly IndexedModel[];
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(directory: string, snapshot: () => readonly IndexedModel[]) {
    this.#path = join(directory, INDEX_FILE);
    this.#snapshot = snapshot;
  }

  /** Resolves when the state of this moment is on disk. */
  write(): Promise<void> {
    this.#next ??= this.#writing.then(
      () => this.#writeNow(),
      () => this.#writeNow(),
    );
    return this.#next;
  }

  #writeNow(): Promise<void> {
    this.#next = null;
    const models = this.#snapshot();
    this.#writing = writeFileDurably(this.#path, `${JSON.stringify({ version: 1, models }, null, 2)}\n`);
    return this.#writing;
  }
}
