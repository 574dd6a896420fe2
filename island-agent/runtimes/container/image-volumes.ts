import { posix } from "node:path";
import { JobFailure } from "../../../shared/errors.ts";

/** The engine's own mounts, with all that is under them. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev"];
/** Memory that processes share, for which a folder of the container's own is right. */
const SHARED_MEMORY = "/dev/shm";

/**
 * The folders that an image declares as volumes, each once and in its plain form. An engine says of a wrong one only that it
 * could not start the container, as if the fault were its own.
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
  const text = `The image ${imageName} declares the volume ${JSON.stringify(volume)}; a volume has to be a folder by its full path, neither / nor in ${SYSTEM_FOLDERS.join(", ")}`;
  throw new JobFailure("model_invalid", text);
}
