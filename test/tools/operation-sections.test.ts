import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parametersOf } from "../../coordinator/http/openai/parameters.ts";
import { currentDocument } from "../../tools/generated/api.ts";
import { ROOT } from "../../tools/generated/files.ts";
import { operationTexts, withOperationTexts, type Operations } from "../../tools/generated/operation-sections.ts";

const document: Operations = {
  paths: {
    "/api/v1/a": {
      get: {
        summary: "List a",
        tags: ["Chat"],
        parameters: [{ in: "query", name: "limit", schema: { minimum: 1, maximum: 9, default: 5 } }],
      },
      post: { summary: "Create a", description: "Costs a credit.", tags: ["Chat"] },
    },
  },
};
const texts = operationTexts(document, new Map([["POST /a", parametersOf(z.object({ b: z.boolean() }))]]));

describe("operationTexts()", () => {
  it("has summary, description and parameters of each operation", () => {
    expect(Object.fromEntries(texts)).toEqual({
      "GET /a": "List a.\n\n| Query parameter | Note |\n|---|---|\n| `limit` | 1 to 9. Default 5 |",
      "POST /a": "Create a. Costs a credit.\n\n| Parameter | Rule | Note |\n|---|---|---|\n| `b` | honoured |  |",
    });
  });
});

describe("withOperationTexts()", () => {
  it("replaces only the generated text of known operations", () => {
    const page = "# A\n\n## POST /a\n\nOwn text\n\n### More\nText\n\n## POST /b\nKept\n";
    const written = withOperationTexts(page, texts);
    const marked = `## POST /a\n${texts.get("POST /a")}\n\n<!-- end of the generated text -->\n\nOwn text\n`;
    expect(written).toBe(page.replace("## POST /a\n\nOwn text\n", marked));
    expect(withOperationTexts(written.replace("Costs a credit.", "Stale."), texts)).toBe(written);
  });
});

describe("docs/reference", () => {
  it("describes each operation of OpenAI's and Anthropic's APIs on exactly one page", () => {
    const pages = ["openai.md", "anthropic.md"].map((name) => readFileSync(join(ROOT, "docs/reference", name), "utf8"));
    const headings = pages.flatMap((page) => [...page.matchAll(/^## ([A-Z]+ \/\S+)$/gm)].map(([, name]) => name));
    const current = currentDocument() as Operations;
    const compatible = Object.entries(current.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { tags }]) => tags.includes("Chat") || tags.includes("Files"))
        .map(([method]) => `${method.toUpperCase()} ${path.slice("/api/v1".length)}`),
    );
    expect(new Set(headings)).toEqual(new Set(compatible));
    expect(headings).toHaveLength(compatible.length);
  });
});
