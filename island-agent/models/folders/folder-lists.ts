import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { modelRefSchema } from "../../../shared/cargo.ts";
import { writeFileDurably } from "../../disk/durable-file.ts";
import { assertSafePaths } from "./folder-files.ts";

const fileSchema = z.object({
  path: z.string(),
  ref: z.object({ ...modelRefSchema.shape, url: z.string(), sizeBytes: z.number().int().nonnegative() }),
});
const listSchema = z.object({
  version: z.literal(1),
  /** The layout and the key, which determine the choice of files. */
  id: z.string(),
  /** As `cacheKeyOf` of the Cargos that use it. */
  key: z.string(),
  files: z.array(fileSchema).min(1),
});
/** The files of a folder that a Cargo needs, as chosen at the first download. */
export type FolderList = Omit<z.infer<typeof listSchema>, "version">;

/** Keeps the lists on disk, one file each, so that a complete folder needs no network. */
export class FolderLists {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Reads all lists. Deletes damaged ones and the temporary files of a crash. */
  async readAll(): Promise<FolderList[]> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const lists: FolderList[] = [];
    for (const name of await readdir(this.#directory)) {
      const list = await this.#read(name);
      if (list === null) await rm(join(this.#directory, name), { recursive: true, force: true });
      else lists.push(list);
    }
    return lists;
  }

  async write(list: FolderList): Promise<void> {
    await writeFileDurably(this.#pathOf(list.id), JSON.stringify({ version: 1, ...list }));
  }

  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true });
  }

  async #read(name: string): Promise<FolderList | null> {
    try {
      const parsed = listSchema.parse(JSON.parse(await readFile(join(this.#directory, name), "utf8")));
      assertSafePaths(parsed.files.map(({ path }) => path));
      const { id, key, files } = parsed;
      return this.#pathOf(id) === join(this.#directory, name) ? { id, key, files } : null;
    } catch {
      // A damaged list is fetched again.
      return null;
    }
  }

  #pathOf(id: string): string {
    return join(this.#directory, `${createHash("sha256").update(id).digest("hex")}.json`);
  }
}
