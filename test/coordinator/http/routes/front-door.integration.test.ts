import { OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";
import { completeWith } from "../scripted-chats.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, { headers: { ...headers }, redirect: "manual" });
const authorization = () => ({ authorization: `Bearer ${api.key}` });

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("the console", () => {
  it("is shown to browsers at / and at the address of each of its pages", async () => {
    for (const [path, base] of [
      ["/", "./"],
      ["/jobs", "./"],
      ["/jobs/job_1", "../"],
      ["/operator/accounts/user_1", "../../"],
    ] as const) {
      const response = await get(path, HTML);
      const page = await response.text();
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
      expect(response.headers.get("vary")).toContain("Accept");
      expect(response.headers.get("cache-control")).toBe("no-cache");
      expect(page).toContain(`<base href="${base}" />`);
    }
  });

  it("is returned with 404 to browsers at an unknown address, while programs get JSON", async () => {
    const page = await get("/nonexistent/page", HTML);
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=UTF-8"]);
    expect(await page.text()).toContain('<base href="../" />');
    for (const response of [await get("/nonexistent"), await get("/api/v1/nonexistent", HTML)]) {
      expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
    }
    expect(await (await get("/metrics")).text()).toContain("/api/v1/metrics");
  });

  it("may run only its own scripts and styles, call only the coordinator, and parse no text as HTML", async () => {
    const response = await get("/", HTML);
    const policy = new Map(
      (response.headers.get("content-security-policy") ?? "").split("; ").map((rule) => {
        const [name = "", ...values] = rule.split(" ");
        return [name, values.join(" ")];
      }),
    );
    expect(Object.fromEntries(policy)).toMatchObject({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "connect-src": "'self'",
      "base-uri": "'self'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
      "trusted-types": "'none'",
    });
    expect(await response.text()).not.toMatch(/<script(?![^>]* src="\.\/assets\/)|<style|https?:|\son\w+=/);
  });

  it("serves compressed files that browsers cache permanently", async () => {
    const page = await (await get("/", HTML)).text();
    const names = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = ""]) => name);
    expect(new Set(names.map((name) => name.replace(/.*\./, "")))).toEqual(new Set(["css", "js"]));
    for (const name of names) {
      const response = await get(`/${name}`);
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(response.headers.get("content-encoding")).toBe("gzip");
      expect(response.headers.get("content-type")).toMatch(name.endsWith(".js") ? "text/javascript" : "text/css");
      const whole = await get(`/${name}`, { "accept-encoding": "identity" });
      expect(whole.headers.get("content-encoding")).toBeNull();
      expect(await whole.text()).toBe(await response.text());
    }
    for (const name of ["assets/none.js", "assets/..%2f..%2fpackage.json", "assets/index.html"]) {
      expect((await get(`/${name}`)).status).toBe(404);
    }
  });

  it("is not returned to programs", async () => {
    for (const path of ["/jobs", "/islands/add"]) expect((await get(path)).status).toBe(404);
  });
});

describe("GET /", () => {
  it("returns the name, the version and links to programs", async () => {
    const response = await get("/");
    const body = (await response.json()) as { name: string; version: string; links: Record<string, string> };
    expect([response.status, body]).toEqual([
      200,
      {
        name: "atoll",
        version: expect.any(String),
        links: {
          api: "api/v1",
          docs: "docs",
          openapi: "api/v1/openapi.json",
          health: "api/v1/health",
          announcements: "api/v1/announcements",
        },
      },
    ]);
    for (const name of ["docs", "openapi", "health"]) expect((await get(`/${body.links[name]}`)).status).toBe(200);
  });

  it("is mentioned at every unknown path", async () => {
    for (const path of ["/nothing", "/api", "/v1", "/v2/models"]) {
      const response = await get(path, path === "/nothing" ? {} : { accept: "text/html" });
      const body = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, body.error.code]).toEqual([404, "not_found"]);
      expect(body.error.message).toMatch(/at \/api\/v1 .*\/docs/);
    }
  });
});

describe("/v1", () => {
  it("serves OpenAI's client", async () => {
    completeWith(api, "Hel", "lo");
    const client = new OpenAI({ apiKey: api.key, baseURL: `${api.url}/v1`, maxRetries: 0 });
    const response = await client.chat.completions.create({
      model: "tiny",
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(response.choices[0]?.message.content).toBe("Hello");
    expect((await client.models.list()).data.length).toBeGreaterThan(0);
  });

  it("responds like /api/v1, including errors", async () => {
    for (const path of ["/account", "/models/none", "/jobs/job_none", "/nothing", "/health"]) {
      const [long, short] = await Promise.all(
        [`/api/v1${path}`, `/v1${path}`].map((each) => get(each, authorization())),
      );
      expect([short?.status, await short?.json()]).toEqual([long?.status, await long?.json()]);
    }
    expect((await fetch(`${api.url}/v1/cargos`, { method: "DELETE" })).status).toBe(405);
  });

  it("is not in the document", async () => {
    const document = (await (await get("/v1/openapi.json")).json()) as { paths: object };
    expect(Object.keys(document.paths).filter((path) => !path.startsWith("/api/v1/"))).toEqual([]);
  });
});
