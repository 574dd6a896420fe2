/**
 * Address of the console, with its final slash. A proxy may serve it below a path prefix; the server writes the prefix
 * into `<base>`.
 */
export const BASE_URL = new URL(".", document.baseURI);

/** Returns the address of a page, for links. `path` starts with a slash. */
export function hrefOf(path: string): string {
  return BASE_URL.pathname + path.slice(1);
}
