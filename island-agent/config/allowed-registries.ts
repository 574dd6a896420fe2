import { JobFailure } from "../../shared/errors.ts";

/** The two registries where the catalog's images are; whoever runs another network names others. */
export const DEFAULT_REGISTRIES = ["docker.io", "ghcr.io"];

/**
 * `host[:port][/path]`, as an image's name begins. A host without dot or port would be no host to an engine, but a folder of
 * docker.io.
 */
const ENTRY_PATTERN =
  /^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+|[a-z0-9-]+(?=:))(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

/** Where this Island may pull from. An entry allows its host, or what is under its path, segment by segment. */
export class AllowedRegistries {
  readonly #entries: readonly string[];

  /** @throws {TypeError} naming the entry that is not `host` or `host/path`. */
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
    throw new JobFailure("model_unavailable", `This Island may not pull ${image}; the registries it may use: ${list}`, {
      retryable: true,
    });
  }
}

/** As engines read it: an image of docker.io without a folder is one of `library`. */
function wholeName(repository: string): string {
  return repository.replace(/^((?:index\.)?docker\.io)\/(?=[^/]*$)/, "$1/library/");
}

/** `registry/name` and the tag. The tag's colon is the last one: an earlier one is a port's. */
export function splitImage(image: string): { repository: string; tag: string } {
  const colon = image.lastIndexOf(":");
  return { repository: image.slice(0, colon), tag: image.slice(colon + 1) };
}
