import type { Context } from "hono";
import { ServiceError } from "../../../shared/errors.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "../http-deps.ts";
import { isOpenAiConversations } from "../vendor-paths.ts";
import type { ConsoleFiles } from "../server/console-files.ts";

const WHERE_TO_LOOK = `the API is below ${API_BASE} (also /v1), its metrics at ${API_BASE}/metrics, its page at /docs, the console at /`;

/** For a path at which nothing is served. */
export function nothingServed(path: string): ServiceError {
  if (isOpenAiConversations(path)) {
    return new ServiceError(
      "not_found",
      "OpenAI's conversations are not served; use previous_response_id of POST /v1/responses. Atoll's own conversations are at /api/v1/conversations",
    );
  }
  return new ServiceError("not_found", `Nothing is served at this path: ${WHERE_TO_LOOK}`);
}

/** First segments of the console's pages (`web/src/app/routes.tsx`): any path below them is a page for browsers, and not found for programs. */
export const CONSOLE_PAGES = [
  ...["sign-in", "register", "verify", "forgot-password", "reset-password"],
  ...["playground", "jobs", "batches", "conversations", "catalog", "keys", "usage", "account"],
  ...["islands", "operator"],
] as const;

/** Types of the files that the console's build makes. */
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The console loads only its own files and calls only the coordinator; pictures of jobs' outputs are `data:`. No HTML is ever made of a text. */
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
  // Names the files of this build.
  "Cache-Control": "no-cache",
};
/** Their names have a hash of their content. */
const FOR_EVER = "public, max-age=31536000, immutable";
const NAME = /^(?:assets\/)?[\w.-]+\.(js|css|svg)$/;

/** Somebody looks for the API with a browser. */
const OF_THE_API = /^\/(?:api|v\d+)(?:\/|$)/;

/** Shows a browser the console's page for an address that it does not know. Undefined for programs, and below the API. */
export async function missingPage(c: Context<HttpEnv>, files: ConsoleFiles): Promise<Response | undefined> {
  if (c.req.method !== "GET" || !isBrowser(c) || OF_THE_API.test(c.req.path)) return undefined;
  c.get("limits").countAddress(c.env.incoming);
  c.header("Vary", "Accept");
  return c.html(await files.page(depthOf(c)), 404, PAGE_HEADERS);
}

/** `GET /`: shows browsers the console, and tells programs where everything is. Links are relative, as a proxy may add a prefix. */
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

  // Not counted for the client's address: a first visit takes a dozen of them, and they are in memory.
  const send = async (c: Context<HttpEnv>, name: string, caching: string): Promise<Response> => {
    const type = TYPES[NAME.exec(name)?.[1] ?? ""];
    const isPacked = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
    const file = type === undefined ? undefined : await files.file(isPacked ? `${name}.gz` : name);
    if (type === undefined || file === undefined) {
      c.get("limits").countAddress(c.env.incoming);
      throw new ServiceError("not_found", `There is no file "${name}"`);
    }
    return c.body(file, 200, {
      "Content-Type": type,
      "Cache-Control": caching,
      "Content-Security-Policy": CONTENT_POLICY,
      Vary: "Accept-Encoding",
      ...(isPacked ? { "Content-Encoding": "gzip" } : {}),
    });
  };
  app.get("/assets/:file", (c) => send(c, `assets/${c.req.param("file")}`, FOR_EVER));
  app.get("/favicon.svg", (c) => send(c, "favicon.svg", "no-cache"));
}

function isBrowser(c: Context<HttpEnv>): boolean {
  return /\btext\/html\b/.test(c.req.header("accept") ?? "");
}

/** Folders above the page. */
function depthOf(c: Context<HttpEnv>): number {
  return c.req.path.split("/").length - 2;
}
