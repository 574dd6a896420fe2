import { join } from "node:path";
import { z } from "zod";
import { IndexFileWriter, readIndexFile } from "../../disk/index-file.ts";

const INDEX_FILE = "index.json";

const indexedModelSchema = z.object({
  key: z.string().min(1),
  /** Name inside the store's directory: the key's hash and an extension, never a path. */
  file: z.string().regex(/^[0-9a-f]{64}(?:\.[a-z0-9]{1,8})?$/),
  bytes: z.number().int().nonnegative(),
  lastUsedMs: z.number().nonnegative(),
});
export type IndexedModel = z.infer<typeof indexedModelSchema>;

const indexSchema = z.object({ version: z.literal(1), models: z.array(indexedModelSchema) });

/** Reads the models in a directory's index; empty when the index is missing or damaged. */
export async function readModelIndex(directory: string): Promise<IndexedModel[]> {
  return (await readIndexFile(join(directory, INDEX_FILE), indexSchema))?.models ?? [];
}

export function modelIndexWriter(directory: string, models: () => readonly IndexedModel[]): IndexFileWriter {
  return new IndexFileWriter(join(directory, INDEX_FILE), () => ({ version: 1, models: models() }));
}
