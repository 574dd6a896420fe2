import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { BASE_URL, hrefOf } from "./base.ts";

export interface PageProps {
  /** Values of the path's placeholders, by name. */
  readonly params: Readonly<Record<string, string>>;
}

export interface Route {
  /** Pattern of the path, such as "/jobs/:id". */
  readonly path: string;
  readonly title: string;
  readonly area: "entry" | "client" | "host" | "operator";
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** Path of the shown page, without the console's prefix. */
export const path = signal(currentPath());
/** Query of the shown page's address. */
export const query = signal(new URLSearchParams(location.search));

addEventListener("popstate", showAddress);

export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, "", hrefOf(to));
  else history.pushState(null, "", hrefOf(to));
  showAddress();
  if (!replace) scrollTo(0, 0);
}

export function matchRoute(
  routes: readonly Route[],
  at: string,
): { readonly route: Route; readonly params: PageProps["params"] } | null {
  for (const route of routes) {
    const params = matchPath(route.path, at);
    if (params !== null) return { route, params };
  }
  return null;
}

/** Returns the values of the placeholders, or null if the path does not match. A placeholder matches one segment. */
export function matchPath(pattern: string, at: string): Record<string, string> | null {
  const [wanted, found] = [pattern.split("/"), at.replace(/\/+$/, "").split("/")];
  if (pattern === "/") return at === "/" ? {} : null;
  if (wanted.length !== found.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = found[index] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decode(value);
    else if (part !== value) return null;
  }
  return params;
}

export function Link({
  to,
  children,
  ...rest
}: {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly "aria-label"?: string;
  readonly "aria-current"?: "page" | undefined;
}) {
  const follow = (event: MouseEvent): void => {
    // The browser handles clicks that open another tab or download.
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={hrefOf(to)} onClick={follow}>
      {children}
    </a>
  );
}

function showAddress(): void {
  query.value = new URLSearchParams(location.search);
  path.value = currentPath();
}

function currentPath(): string {
  return `/${location.pathname.slice(BASE_URL.pathname.length)}`;
}

/** Decodes a path segment. An invalid escape stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
