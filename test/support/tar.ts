import { gzipSync } from "node:zlib";

export interface TarEntry {
  /** Path without a leading slash. Folders end with a slash. */
  readonly path: string;
  readonly content?: Buffer | string;
  /** Target of a symbolic link. */
  readonly linkTo?: string;
  /** Permissions. Default: 0o755. */
  readonly mode?: number;
}

const BLOCK_BYTES = 512;

/** Creates an archive of entries that belong to root. Source: POSIX.1-1988, ustar. */
export function makeTar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
    return [makeHeader(entry, content.length), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

export function makeTarGz(entries: readonly TarEntry[]): Buffer {
  return gzipSync(makeTar(entries), { level: 1 });
}

function makeHeader({ path, linkTo, mode }: TarEntry, bytes: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  header.write(path, 0, 100);
  octal(mode ?? 0o755, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(0, 136, 12);
  header.fill(" ", 148, 156);
  header.write(linkTo !== undefined ? "2" : path.endsWith("/") ? "5" : "0", 156);
  header.write(linkTo ?? "", 157, 100);
  header.write("ustar", 257, "latin1");
  header.write("00", 263, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}
