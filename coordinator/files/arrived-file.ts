import type { FilePurpose } from "../store/file-store.ts";

const MAX_FILENAME_CHARS = 255;

/** A complete file that arrived. */
export interface ArrivedFile {
  /** Below the folder for files that arrive; it is moved away. */
  readonly path: string;
  /** As the client gave it. */
  readonly filename: string;
  readonly purpose: FilePurpose;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Null: as long as files are kept. */
  readonly expiresAfterMs: number | null;
}

/** No folders, no control characters, and text that every database takes. */
export function cleanFilename(filename: string): string {
  const [name = ""] = filename.split(/[/\\]/).slice(-1);
  return name
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, MAX_FILENAME_CHARS)
    .toWellFormed();
}
