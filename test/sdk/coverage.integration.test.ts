import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";

const SOURCES = join(import.meta.dirname, "..", "..", "sdk", "typescript", "src");

/** Operations without a method, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "get /metrics": "for Prometheus",
  "get /island/recommendations": "for Islands",
  "post /island/pair": "for Islands",
  "get /island/earnings": "for Islands",
  "delete /island": "for Islands",
  "get /island/files/{id}": "for Islands",
  "get /docs": "for people",
  "post /completions": "for OpenAI's clients",
  "post /responses": "for OpenAI's clients",
  "get /responses/{id}": "for OpenAI's clients",
  "delete /responses/{id}": "for OpenAI's clients",
  "post /responses/{id}/cancel": "for OpenAI's clients",
  "post /messages": "for Anthropic's clients",
  "post /messages/count_tokens": "for Anthropic's clients",
  "get /openapi.json": "what the client was made from",
};

describe("@atoll/client", () => {
  it("has a method for every operation of the document", async () => {
    const source = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && name !== "openapi.ts")
      .map((name) => readFileSync(join(SOURCES, name), "utf8"))
      .join("\n");
    const called = new Set(
      [...source.matchAll(/\.(?:call|events|bytes|chunks)\(\s*"(\w+)",\s*"([^"]+)"/g)].map(
        ([, method, path]) => `${method} ${path}`,
      ),
    );
    await using coordinator = await TestCoordinator.open();
    const { body } = await call(coordinator.url, null, "GET", "/openapi.json");
    const offered = Object.entries(body.paths as Record<string, Record<string, unknown>>).flatMap(([path, item]) =>
      ["get", "post", "patch", "put", "delete"]
        .filter((method) => method in item && path.startsWith("/api/v1"))
        .map((method) => `${method} ${path.slice("/api/v1".length)}`),
    );
    expect(offered.length).toBeGreaterThan(20);
    expect(offered.filter((operation) => !called.has(operation) && !(operation in LEFT_OUT))).toEqual([]);
  });
});
