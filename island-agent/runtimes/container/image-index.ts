import { join } from "node:path";
import { z } from "zod";
import { IndexFileWriter, readIndexFile } from "../../disk/index-file.ts";

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

/** The images that this Island pulled; empty when there is no index, or it is damaged: then the owner removes them. */
export async function readImageIndex(directory: string): Promise<IndexedImage[]> {
  return (await readIndexFile(join(directory, INDEX_FILE), indexSchema))?.images ?? [];
}

export function imageIndexWriter(directory: string, images: () => readonly IndexedImage[]): IndexFileWriter {
  return new IndexFileWriter(join(directory, INDEX_FILE), () => ({ version: 1, images: images() }));
}
