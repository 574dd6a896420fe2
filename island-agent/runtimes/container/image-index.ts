import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileDurably } from "../../disk/durable-file.ts";

const INDEX_FILE = "images.json";

const indexedImageSchema = z.object({
  /** As `imageReference()` makes it. */
  key: z.string().min(1).max(2_000),
  /** The engine's name for it. */
  reference: z.string().min(1).max(2_000),
  bytes: z.number().int().nonnegative(),
  lastUsedMs: z.number().nonnegative(),
});
/** An image that this Island pulled. */
export type IndexedImage = z.infer<typeof indexedImageSchema>;

const indexSchema = z.object({ version: z.literal(1), images: z.array(indexedImageSchema) });

/** None when there is no index, or when it is damaged: then the images are the owner's to remove. */
export async function readImageIndex(directory: string): Promise<IndexedImage[]> {
  try {
    const parsed = indexSchema.safeParse(JSON.parse(await readFile(join(directory, INDEX_FILE), "utf8")));
    return parsed.data?.images ?? [];
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Writes the whole index in one step, one write after another. The directory is made when missing. */
export class ImageIndexWriter {
  readonly #directory: string;
  #turn: Promise<void> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
  }

  write(images: readonly IndexedImage[]): Promise<void> {
    const text = `${JSON.stringify({ version: 1, images }, null, 2)}\n`;
    const mine = this.#turn.then(async () => {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await writeFileDurably(join(this.#directory, INDEX_FILE), text);
    });
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
