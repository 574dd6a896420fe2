import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const VERSION = String.raw`\d{1,5}\.\d{1,5}\.\d{1,5}(?:-[0-9A-Za-z.]{1,40})?`;
/** Names that `npm run packages`, `npm run packages:debian` and Python's `build` give. */
const PATTERNS = [
  { format: "npm", pattern: new RegExp(`^atoll-(?<package>island|client)-(?<version>${VERSION})\\.tgz$`) },
  { format: "deb", pattern: new RegExp(`^atoll-(?<package>island)_(?<version>${VERSION})_(?:amd64|arm64)\\.deb$`) },
  { format: "wheel", pattern: new RegExp(`^atoll_(?<package>client)-(?<version>${VERSION})-py3-none-any\\.whl$`) },
] as const;

export const DOWNLOAD_FORMATS = PATTERNS.map(({ format }) => format);

/** A package for hosts or clients that the operator put into the folder. */
export interface DownloadFile {
  readonly name: string;
  readonly package: "island" | "client";
  readonly format: (typeof DOWNLOAD_FORMATS)[number];
  readonly version: string;
  readonly sizeBytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Parses the name of a package's file; undefined for any other name. */
export function parseDownloadName(name: string): Pick<DownloadFile, "package" | "format" | "version"> | undefined {
  for (const { format, pattern } of PATTERNS) {
    const { package: program, version = "" } = pattern.exec(name)?.groups ?? {};
    if (program !== undefined) return { package: program as DownloadFile["package"], format, version };
  }
  return undefined;
}

/** The packages in a folder. A file is hashed when it is first asked for, and again only after it has changed. */
export function downloadsIn(folder: string) {
  const hashes = new Map<string, { readonly state: string; readonly sha256: Promise<string> }>();

  const hashOf = (name: string, state: string): Promise<string> => {
    const known = hashes.get(name);
    if (known?.state === state) return known.sha256;
    const sha256 = hashFile(join(folder, name));
    hashes.set(name, { state, sha256 });
    sha256.catch(() => hashes.delete(name));
    return sha256;
  };

  /** Undefined where there is no such package. */
  const find = async (name: string): Promise<DownloadFile | undefined> => {
    const parsed = parseDownloadName(name);
    if (parsed === undefined) return undefined;
    const found = await stat(join(folder, name)).catch(noneIfMissing);
    if (found?.isFile() !== true) return undefined;
    const sha256 = await hashOf(name, `${found.ino} ${found.size} ${found.mtimeMs}`);
    return { name, ...parsed, sizeBytes: found.size, sha256 };
  };

  /** Newest version first. Empty if the folder does not exist. */
  const list = async (): Promise<DownloadFile[]> => {
    const names = await readdir(folder).catch(noneIfMissing);
    const files = await Promise.all((names ?? []).map(find));
    return files
      .filter((file) => file !== undefined)
      .toSorted((a, b) => compareVersions(b.version, a.version) || compare(a.name, b.name));
  };

  return { find, list };
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

function noneIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}

/** A version with a suffix, as in 1.0.0-rc.1, comes before the one without. */
function compareVersions(a: string, b: string): number {
  const [numbersA = "", suffixA = ""] = a.split("-");
  const [numbersB = "", suffixB = ""] = b.split("-");
  return compare(numbersA, numbersB) || Number(suffixA === "") - Number(suffixB === "") || compare(suffixA, suffixB);
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
