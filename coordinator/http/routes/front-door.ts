import type { Context } from "hono";
import { ServiceError } from "../../../shared/errors.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "../http-deps.ts";
import { isOpenAiConversations } from "../vendor-paths.ts";
import type { ConsoleFiles } from "../server/console-files.ts";

const WHERE_TO_LOOK = `the API is at ${API_BASE} (also /v1), its documentation at /docs, the console at /, metrics at ${API_BASE}/metrics`;

export function noRouteError(path: string): ServiceError {
  if (isOpenAiConversations(path)) {
    return new ServiceError(
      "not_found",
      "OpenAI's conversations are not supported. Use previous_response_id of POST /v1/responses. Atoll's own conversations are at /api/v1/conversations",
    );
  }
  return new ServiceError("not_found", `Nothing is served at this path; ${WHERE_TO_LOOK}`);
}

/** First path segments of the console's pages (`web/src/app/routes.tsx`), where programs get 404. */
export const CONSOLE_PAGES = [
  ...["sign-in", "register", "verify", "forgot-password", "reset-password"],
  ...["playground", "jobs", "batches", "conversations", "catalog", "keys", "usage", "account"],
  ...["islands", "operator"],
] as const;

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Content-Security-Policy of the console, which loads only its own files and calls only the coordinator. Images in
 * outputs of jobs are `data:` URLs. No text is ever parsed as HTML.
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
  // Browsers must revalidate the page: it names the files of this build.
  "Cache-Control": "no-cache",
};
/** `Cache-Control` of files whose names contain a hash of their content. */
const IMMUTABLE = "public, max-age=31536000, immutable";
const NAME = /^(?:assets\/)?[\w.-]+\.(js|css|svg)$/;

const API_PATH = /^\/(?:api|v\d+)(?:\/|$)/;

/** Returns the console's 404 page to a browser; undefined for programs and for paths below the API. */
export async function missingPage(c: Context<HttpEnv>, files: ConsoleFiles): Promise<Response | undefined> {
  if (c.req.method !== "GET" || !isBrowser(c) || API_PATH.test(c.req.path)) return undefined;
  return showPage(c, 404, files);
}

async function showPage(c: Context<HttpEnv>, status: 200 | 404, files: ConsoleFiles): Promise<Response> {
  c.get("limits").countAddress(c.env.incoming);
  c.header("Vary", "Accept");
  const depth = c.req.path.split("/").length - 2;
  return c.html(await files.page(depth), status, PAGE_HEADERS);
}

/**
 * Serves `/` and the console's files. At `/`, browsers get the console, and programs get links of the API, which are
 * relative because a proxy may add a prefix.
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

  app.get("/", async (c) => {
    if (isBrowser(c)) return showPage(c, 200, files);
    c.get("limits").countAddress(c.env.incoming);
    c.header("Vary", "Accept");
    return c.json({ name: "atoll", version, links });
  });

  for (const page of CONSOLE_PAGES) {
    for (const path of [`/${page}`, `/${page}/*`]) {
      app.get(path, async (c, next) => {
        if (!isBrowser(c)) return next();
        return showPage(c, 200, files);
      });
    }
  }

  // These requests do not count for the client's address: a first visit loads a dozen files, which are in memory.
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
