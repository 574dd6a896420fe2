import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { z } from "zod";
import { writeFileDurably } from "./durable-file.ts";

/** Reads an index file; null when it is missing or damaged. @throws on a disk error. */
export async function readIndexFile<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  try {
    return schema.safeParse(JSON.parse(await readFile(path, "utf8"))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Writes an index after every change, one write at a time. Changes during a write share the next one. The directory is
 * created when missing.
 */
export class IndexFileWriter {
  readonly #path: string;
  readonly #snapshot: () => object;
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** @param snapshot returns the content; called when a write starts. */
  constructor(path: string, snapshot: () => object) {
    this.#path = path;
    this.#snapshot = snapshot;
  }

  /** Resolves when the current state is on disk. */
  write(): Promise<void> {
    this.#next ??= this.#writing.then(
      () => this.#writeNow(),
      () => this.#writeNow(),
    );
    return this.#next;
  }

  #writeNow(): Promise<void> {
    this.#next = null;
    const text = `${JSON.stringify(this.#snapshot(), null, 2)}\n`;
    this.#writing = this.#replace(text);
    return this.#writing;
  }

  async #replace(text: string): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await writeFileDurably(this.#path, text);
  }
}
