import type { Context } from "hono";
import { ServiceError } from "../../../shared/errors.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "../http-deps.ts";
import { isOpenAiConversations } from "../vendor-paths.ts";
import type { ConsoleFiles } from "../server/console-files.ts";

const WHERE_TO_LOOK = `the API is at ${API_BASE} (also /v1), its documentation at /docs, the console at /, metrics at ${API_BASE}/metrics`;

/** Returns the error for a path without a route. */
export function noRouteError(path: string): ServiceError {
  if (isOpenAiConversations(path)) {
    return new ServiceError(
      "not_found",
      "OpenAI's conversations are not supported; use previous_response_id of POST /v1/responses. Atoll's own conversations are at /api/v1/conversations",
    );
  }
  return new ServiceError("not_found", `Nothing is served at this path; ${WHERE_TO_LOOK}`);
}

/**
 * First segments of the console's pages (`web/src/app/routes.tsx`). Any path below them is a page for browsers and 404
 * for programs.
 */
export const CONSOLE_PAGES = [
  ...["sign-in", "register", "verify", "forgot-password", "reset-password"],
  ...["playground", "jobs", "batches", "conversations", "catalog", "keys", "usage", "account"],
  ...["islands", "operator"],
] as const;

/** Media types of the files in the console's build. */
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Content security policy of the console: it loads only its own files and calls only the coordinator. Images in outputs
 * of jobs are `data:`. No text is ever parsed as HTML.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const PAGE_HEADERS = {
  "Content-Security-Policy": CONTENT_POLICY,
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
  // The page names the files of this build.
  "Cache-Control": "no-cache",
};
/** For files whose names contain a hash of their content. */
const IMMUTABLE = "public, max-age=31536000, immutable";
const NAME = /^(?:assets\/)?[\w.-]+\.(js|css|svg)$/;

/** Paths of the API, which a browser may request too. */
const API_PATH = /^\/(?:api|v\d+)(?:\/|$)/;

/** Returns the console's page for a browser at an unknown address. Undefined for programs, and below the API. */
export async function missingPage(c: Context<HttpEnv>, files: ConsoleFiles): Promise<Response | undefined> {
  if (c.req.method !== "GET" || !isBrowser(c) || API_PATH.test(c.req.path)) return undefined;
  c.get("limits").countAddress(c.env.incoming);
  c.header("Vary", "Accept");
  return c.html(await files.page(depthOf(c)), 404, PAGE_HEADERS);
}

/**
 * Adds the console, and `GET /`: browsers get the console, programs the links of the API. Links are relative, because a
 * proxy may add a prefix.
 */
export function serveFrontDoor(app: HttpApp, { version }: HttpDeps, files: ConsoleFiles): void {
  const api = API_BASE.slice(1);
  const links = {
    api,
    docs: "docs",
    openapi: `${api}/openapi.json`,
    health: `${api}/health`,
    announcements: `${api}/announcements`,
  };

  const showPage = async (c: Context<HttpEnv>): Promise<Response> => {
    return c.html(await files.page(depthOf(c)), 200, PAGE_HEADERS);
  };

  app.get("/", async (c) => {
    c.get("limits").countAddress(c.env.incoming);
    c.header("Vary", "Accept");
    return isBrowser(c) ? showPage(c) : c.json({ name: "atoll", version, links });
  });

  for (const page of CONSOLE_PAGES) {
    for (const path of [`/${page}`, `/${page}/*`]) {
      app.get(path, async (c, next) => {
        if (!isBrowser(c)) return next();
        c.get("limits").countAddress(c.env.incoming);
        c.header("Vary", "Accept");
        return showPage(c);
      });
    }
  }

  // Not counted for the client's address: a first visit loads a dozen of these files, and they are in memory.
  const send = async (c: Context<HttpEnv>, name: string, caching: string): Promise<Response> => {
    const type = TYPES[NAME.exec(name)?.[1] ?? ""];
    const isGzip = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
    const file = type === undefined ? undefined : await files.file(isGzip ? `${name}.gz` : name);
    if (type === undefined || file === undefined) {
      c.get("limits").countAddress(c.env.incoming);
      throw new ServiceError("not_found", `There is no file "${name}"`);
    }
    return c.body(file, 200, {
      "Content-Type": type,
      "Cache-Control": caching,
      "Content-Security-Policy": CONTENT_POLICY,
      Vary: "Accept-Encoding",
      ...(isGzip ? { "Content-Encoding": "gzip" } : {}),
    });
  };
  app.get("/assets/:file", (c) => send(c, `assets/${c.req.param("file")}`, IMMUTABLE));
  app.get("/favicon.svg", (c) => send(c, "favicon.svg", "no-cache"));
}

function isBrowser(c: Context<HttpEnv>): boolean {
  return /\btext\/html\b/.test(c.req.header("accept") ?? "");
}

/** Returns the number of folders above the page. */
function depthOf(c: Context<HttpEnv>): number {
  return c.req.path.split("/").length - 2;
}
