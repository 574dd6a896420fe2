import { randomUUID } from "node:crypto";
import { link, mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

const NO_HARD_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

export type MakeLink = (target: string, path: string) => Promise<void>;

/** Opens directories of links to the files of a store. They take no disk space. */
export function openFolderLinks(within: string, hardLink: MakeLink = link) {
  const directory = resolve(within);

  /** Deletes directories that a crash has left. */
  async function sweep(): Promise<void> {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }

  /**
   * Creates a directory with a link for each file. Uses symbolic links if the file system has no hard links.
   * @param files paths below the directory, checked by `assertSafePaths`.
   */
  async function make(files: Iterable<readonly [path: string, target: string]>): Promise<string> {
    const folder = join(directory, randomUUID());
    try {
      await mkdir(folder, { mode: 0o700 });
      for (const [path, target] of files) {
        const linkPath = join(folder, ...path.split("/"));
        await mkdir(dirname(linkPath), { recursive: true, mode: 0o700 });
        await linkFile(resolve(target), linkPath);
      }
      return folder;
    } catch (error) {
      await remove(folder);
      throw error;
    }
  }

  async function remove(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }

  async function linkFile(target: string, linkPath: string): Promise<void> {
    try {
      await hardLink(target, linkPath);
    } catch (error) {
      if (!NO_HARD_LINKS.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
      await symlink(target, linkPath, "file");
    }
  }

  return { sweep, make, remove };
}

export type FolderLinks = ReturnType<typeof openFolderLinks>;
