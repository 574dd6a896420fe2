import { createServer, request, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const get = (path: string, init: RequestInit = {}) => fetch(`${api.url}${path}`, init);

/** Returns the addresses in a page or script, which are links, sources and the document. */
function addressesIn(text: string): string[] {
  return [...text.matchAll(/(?:href|src|url)(?:=|: ?)"([^"]*)"/g)].map(([, address]) => address ?? "");
}

/** Returns the page at an address and all files that it loads. */
async function load(pageUrl: string) {
  const page = await fetch(pageUrl);
  const html = await page.text();
  const loaded = await Promise.all(
    addressesIn(html).map(async (address) => {
      const response = await fetch(new URL(address, page.url));
      return { address, response, text: await response.text() };
    }),
  );
  const start = loaded.find(({ address }) => address.endsWith("start.js"))?.text ?? "";
  return { page, html, loaded, start };
}

describe("GET /docs", () => {
  it("returns a page whose parts are all served by this coordinator", async () => {
    const { page, html, loaded } = await load(`${api.url}/docs`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
    expect(html).toContain('<div id="swagger-ui">');
    const parts = loaded.map(({ address, response }) => [
      address,
      response.status,
      response.headers.get("content-type"),
    ]);
    expect(parts).toEqual([
      ["docs/swagger-ui.css", 200, expect.stringContaining("text/css")],
      ["docs/favicon-32x32.png", 200, "image/png"],
      ["docs/swagger-ui-bundle.js", 200, expect.stringContaining("javascript")],
      ["docs/start.js", 200, expect.stringContaining("javascript")],
    ]);
    expect(loaded[2]?.text).toContain("SwaggerUIBundle");
  });

  it("uses dark colours if the browser prefers them, by the class of its style sheet", async () => {
    const { start, loaded } = await load(`${api.url}/docs`);
    expect(start).toContain('matchMedia("(prefers-color-scheme: dark)")');
    expect(start).toContain('classList.toggle("dark-mode", dark.matches)');
    expect(loaded[0]?.text).toContain("html.dark-mode .swagger-ui");
  });

  it("shows the document of this coordinator", async () => {
    const { page, start } = await load(`${api.url}/docs`);
    const [address = ""] = addressesIn(start);
    const document = await fetch(new URL(address, page.url));
    expect(await document.json()).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.3" } });
  });

  it("names no other host, lets no third party check the document, and has no inline script or style", async () => {
    const { html, loaded, start } = await load(`${api.url}/docs`);
    expect(html + start).not.toMatch(/https?:|\/\/[a-z]/);
    expect(start).toContain("validatorUrl: null");
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
    const css = loaded[0]?.text ?? "";
    const hosts = [...css.matchAll(/url\(\s*["']?([a-z]+:)/g)].map(([, scheme]) => scheme);
    expect(new Set(hosts)).toEqual(new Set(["data:"]));
    expect(css).not.toContain("@import");
  });

  it("sets a policy that allows nothing from other hosts and no inline code", async () => {
    const policies = await Promise.all(
      ["/docs", "/docs/start.js", "/docs/swagger-ui-bundle.js"].map(async (path) => {
        const response = await get(path);
        await response.arrayBuffer();
        return response.headers.get("content-security-policy");
      }),
    );
    expect(new Set(policies)).toEqual(
      new Set([
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      ]),
    );
  });

  it("is reached from /docs/ and /api/v1/docs, and its document from /openapi.json", async () => {
    const ends = await Promise.all(
      ["/docs/", "/api/v1/docs", "/openapi.json"].map(async (path) => {
        const response = await get(path);
        await response.arrayBuffer();
        return [response.status, new URL(response.url).pathname];
      }),
    );
    expect(ends).toEqual([
      [200, "/docs"],
      [200, "/docs"],
      [200, "/api/v1/openapi.json"],
    ]);
  });

  it.each(["/docs/index.html", "/docs/package.json", "/docs/..%2Fpackage.json", "/docs/swagger-ui.css.map"])(
    "returns 404 for %s",
    async (path) => {
      const response = await get(path);
      expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        "not_found",
      ]);
    },
  );

  it("answers HEAD, and returns 304 to a client with the current version", async () => {
    expect((await get("/docs", { method: "HEAD" })).status).toBe(200);
    const bundle = await get("/docs/swagger-ui-bundle.js", { method: "HEAD" });
    const headers = { "if-none-match": bundle.headers.get("etag") ?? "", "cache-control": "max-age=0" };
    expect((await get("/docs/swagger-ui-bundle.js", { headers })).status).toBe(304);
  });

  it(...unlessSeveral("counts for the client's address", "each counts addresses separately"), async () => {
    await using few = await Api.open({ publicRequestsPerMinute: 1 });
    await (await fetch(`${few.url}/docs`)).text();
    expect((await fetch(`${few.url}/docs`)).status).toBe(429);
  });
});

describe("GET /docs behind a proxy with a path prefix", () => {
  let proxy: Server;
  let publicUrl: string;
  let behind: Api;
  beforeEach(async () => {
    proxy = createServer((incoming, outgoing) => {
      const { method, headers, url = "" } = incoming;
      const path = /^\/compute(\/.*)$/.exec(url)?.[1];
      if (path === undefined) {
        outgoing.writeHead(404).end();
        return;
      }
      const upstream = request(new URL(path, behind.url), { method, headers, agent: false }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      });
      incoming.pipe(upstream);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    publicUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/compute`;
    behind = await Api.open({ publicUrl });
  });
  afterEach(async () => {
    await behind[Symbol.asyncDispose]();
    proxy.close();
    proxy.closeAllConnections();
  });

  it.each(["/docs", "/docs/", "/api/v1/docs"])("finds the parts and the document of the page at %s", async (path) => {
    const { page, loaded, start } = await load(`${publicUrl}${path}`);
    expect(page.url).toBe(`${publicUrl}/docs`);
    expect(loaded.map(({ response }) => response.status)).toEqual([200, 200, 200, 200]);
    const document = await fetch(new URL(addressesIn(start)[0] ?? "", page.url));
    expect(await document.json()).toMatchObject({ servers: [{ url: publicUrl }] });
  });

  it("lets the page call the API at the operator's public URL", async () => {
    const response = await fetch(`${behind.url}/docs`);
    await response.text();
    expect(response.headers.get("content-security-policy")).toContain(
      `connect-src 'self' ${new URL(publicUrl).origin};`,
    );
  });
});
