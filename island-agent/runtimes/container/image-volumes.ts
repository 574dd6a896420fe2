import { posix } from "node:path";
import { JobFailure } from "../../../shared/errors.ts";

/** The engine mounts these folders itself. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev"];
/** Exception: shared memory, which may be a tmpfs of the container. */
const SHARED_MEMORY = "/dev/shm";

/**
 * The volumes that an image declares, normalised and without duplicates. They are checked here because an engine reports an invalid
 * one only as a failed start.
 * @param imageName for the error.
 * @throws {JobFailure} `model_invalid`: no Island can mount it.
 */
export function volumeFolders(imageName: string, declared: readonly string[]): string[] {
  return [...new Set(declared.map((volume) => plainFolder(imageName, volume)))];
}

function plainFolder(imageName: string, volume: string): string {
  const folder = posix.resolve("/", volume);
  const isSystem = SYSTEM_FOLDERS.some((system) => folder === system || folder.startsWith(`${system}/`));
  if (posix.isAbsolute(volume) && folder !== "/" && (!isSystem || folder === SHARED_MEMORY)) return folder;
  const text = `The image ${imageName} declares the volume ${JSON.stringify(volume)}; a volume must be an absolute path, not / and not inside ${SYSTEM_FOLDERS.join(", ")}`;
  throw new JobFailure("model_invalid", text);
}
