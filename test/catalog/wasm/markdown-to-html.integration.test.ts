import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const utility = new Utility("markdown-to-html");
const render = (markdown: string): string => utility.output<{ html: string }>({ markdown }).html;

/** All allowed tags, including closing ones. */
const TAG =
  /<\/?(?:p|h[1-6]|em|strong|code|pre|blockquote|ul|ol|li|a|img|hr|br)(?: (?:href|src|alt|title|class|start)="[^"<>]*")*(?: \/)?>/g;

describe("markdown-to-html", () => {
  it("renders each numbered line as a list item", () => {
    expect(render("1. a\n2. b\n3. c\n")).toBe("<ol>\n<li>a</li>\n<li>b</li>\n<li>c</li>\n</ol>\n");
  });

  it("escapes HTML and character references", () => {
    expect(render('<script>alert("1")</script> &amp; <b onclick=x>')).toBe(
      "<p>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp;amp; &lt;b onclick=x&gt;</p>\n",
    );
  });
  it.each([
    "[words](javascript:alert(1))",
    "[words](JaVaScRiPt:alert(1))",
    "[words](<java\tscript:alert(1)>)",
    "[words](java\\script:x)",
    "[words](data:text/html,x)",
    "[words](vbscript:x)",
    "[words](\\javascript:x)",
    "[words](file:///etc/passwd)",
    "![words](javascript:x)",
    "![words](data:image/svg+xml,x)",
  ])("outputs only the words of %j", (markdown) => {
    expect(render(markdown)).toBe("<p>words</p>\n");
  });
  it.each([
    ["<javascript:alert(1)>", "<p>&lt;javascript:alert(1)&gt;</p>\n"],
    ["[a](javascript&colon;alert(1))", '<p><a href="javascript&amp;colon;alert(1)">a</a></p>\n'],
    ['[a](x"onmouseover=y)', '<p><a href="x%22onmouseover=y">a</a></p>\n'],
    ["[a](/x '\"><script>')", '<p><a href="/x" title="&quot;&gt;&lt;script&gt;">a</a></p>\n'],
    ['```"><script>\n```', '<pre><code class="language-&quot;&gt;&lt;script&gt;"></code></pre>\n'],
  ])("renders %j as harmless HTML", (markdown, html) => {
    expect(render(markdown)).toBe(html);
  });
  it("outputs only allowed and correctly nested tags for any input", () => {
    const piece = fc.constantFrom(
      ...[
        "*",
        "**",
        "_",
        "`",
        "```\n",
        "[",
        "](",
        ")",
        "![",
        "<",
        ">",
        '"',
        "'",
        "\\",
        "\n",
        "\n\n",
        "  \n",
        "- ",
        "1. ",
        "> ",
        "# ",
        "---\n",
      ],
      ...["    ", "\t", "a", "é", "&", "javascript:", "http://x", "<b>", "=", "]"],
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 40 }), (pieces) => {
        const html = render(pieces.join(""));
        expect(html.replaceAll(TAG, "")).not.toMatch(/[<>"]/);
        expect(html).not.toMatch(/(?:href|src)="\s*javascript:/i);
        const open: string[] = [];
        for (const [tag] of html.matchAll(TAG)) {
          const name = /\w+/.exec(tag)?.[0] ?? "";
          if (tag.startsWith("</")) expect(open.pop()).toBe(name);
          else if (!tag.endsWith("/>")) open.push(name);
        }
        expect(open).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
  it.each([
    ["quotes", ">".repeat(200_000)],
    ["nested lists", "- ".repeat(100_000)],
    ["open brackets", "[".repeat(200_000)],
    ["links that never end", "[](a".repeat(50_000)],
    ["images in images", "![".repeat(50_000) + "a](b)".repeat(20_000)],
    ["stars", "*".repeat(200_000)],
    ["runs that open and close", "a*b_".repeat(50_000)],
    ["backticks of many lengths", Array.from({ length: 600 }, (_, at) => "`".repeat(at + 1)).join(" ")],
    ["lines in quotes", "> a\n".repeat(45_000)],
    ["code in deep lists", `${"- ".repeat(40)}a\n${"\n".repeat(40_000)}${" ".repeat(64)}b`],
  ])("stays fast, with small output, for %s", (_what, markdown) => {
    const { lines } = utility.raw(JSON.stringify({ markdown }));
    expect(lines.map((line) => line.type)).toEqual(["done"]);
  });
  it("rejects more than 50,000 lines", () => {
    expect(utility.error({ markdown: "\n".repeat(50_001) })).toContain("50000 lines");
  });
});
