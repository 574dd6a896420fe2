/** Address of the console with its final slash: a proxy may serve it below a path prefix. The server writes it into `<base>`. */
export const BASE_URL = new URL(".", document.baseURI);

/** The address of a page, for links. `path` begins with a slash. */
export function hrefOf(path: string): string {
  return BASE_URL.pathname + path.slice(1);
}
