import { statfsSync } from "node:fs";

/** Returns the free bytes on the file system of a directory; null if the platform does not report them. */
export function freeBytesOn(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}
