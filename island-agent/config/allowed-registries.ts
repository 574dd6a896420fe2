import { JobFailure } from "../../shared/errors.ts";

/** Registries of the images in the shipped catalog. */
export const DEFAULT_REGISTRIES = ["docker.io", "ghcr.io"];

/**
 * `host[:port][/path]`, the start of an image's name. Engines interpret a name without dot or port as a folder of
 * docker.io, not as a host.
 */
const ENTRY_PATTERN =
  /^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+|[a-z0-9-]+(?=:))(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

/** Registries from which this Island may pull. An entry allows a host, or all images below a path of a host. */
export class AllowedRegistries {
  readonly #entries: readonly string[];

  /** @throws {TypeError} for an entry that is not `host` or `host/path`. */
  constructor(entries: readonly string[]) {
    this.#entries = entries.map((entry) => entry.toLowerCase());
    const wrong = this.#entries.find((entry) => !ENTRY_PATTERN.test(entry));
    if (wrong !== undefined) throw new TypeError(`"${wrong}" is not a registry: write host or host/path`);
  }

  /** @param image `registry/name:tag`. @throws {JobFailure} when no entry allows it; another Island may. */
  check(image: string): void {
    const repository = wholeName(splitImage(image).repository);
    if (this.#entries.some((entry) => repository === entry || repository.startsWith(`${entry}/`))) return;
    const list = this.#entries.length === 0 ? "none" : this.#entries.join(", ");
    throw new JobFailure("model_unavailable", `This Island may not pull ${image}. Allowed registries: ${list}`, {
      retryable: true,
    });
  }
}

/** Returns the full name as engines read it: `docker.io/x` is `docker.io/library/x`. */
function wholeName(repository: string): string {
  return repository.replace(/^((?:index\.)?docker\.io)\/(?=[^/]*$)/, "$1/library/");
}

/** Splits `registry/name` and the tag. The last colon starts the tag; an earlier one starts a port. */
export function splitImage(image: string): { repository: string; tag: string } {
  const colon = image.lastIndexOf(":");
  return { repository: image.slice(0, colon), tag: image.slice(colon + 1) };
}
