import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";

/** What the paths outside the API say to who looks for it. */
export const WHERE_TO_LOOK = `the API is below ${API_BASE} (also /v1), its page at /docs`;

/** `GET /`: sends browsers to the page of the API, and tells programs where everything is. Links are relative, as a proxy may add a prefix. */
export function serveFrontDoor(app: HttpApp, { version }: Pick<HttpDeps, "version">): void {
  const api = API_BASE.slice(1);
  const links = {
    api,
    docs: "docs",
    openapi: `${api}/openapi.json`,
    health: `${api}/health`,
    announcements: `${api}/announcements`,
  };
  app.get("/", (c) => {
    c.get("limits").countAddress(c.env.incoming);
    c.header("Vary", "Accept");
    if (/\btext\/html\b/.test(c.req.header("accept") ?? "")) return c.body(null, 302, { Location: "docs" });
    return c.json({ name: "atoll", version, links });
  });
}
