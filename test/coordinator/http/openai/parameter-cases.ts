import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ParameterRule } from "../../../../coordinator/http/openai/parameters.ts";
import { Api } from "../api.ts";

const DOCUMENT = join(import.meta.dirname, "..", "..", "..", "..", "docs", "openai.md");

export interface ParameterCases {
  /** Heading of the section of docs/openai.md: "POST /chat/completions". */
  readonly endpoint: string;
  readonly table: readonly ParameterRule[];
  /** The least that the endpoint takes. */
  readonly base: Readonly<Record<string, unknown>>;
  /** For each row of the table, a value of its top-level parameter. Where others are needed, too: {@link context}. */
  readonly samples: Readonly<Record<string, unknown>>;
  /** Other parameters that a row's sample needs, by the row's name. */
  readonly context?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Honoured rows whose effect neither job nor answer shows, and hints that the job's input keeps. */
  readonly unseen?: readonly string[];
  /** Lets the jobs of the API end well, or makes what the requests name. */
  readonly arrange: (api: Api) => void | Promise<void>;
}

/** Posts each row of a table to a coordinator, and compares the table with the document. */
export function describeParameters(cases: ParameterCases): void {
  const { endpoint, table, base, samples, context = {}, unseen = [], arrange } = cases;
  const path = endpoint.replace("POST ", "");
  const rows = (rule: ParameterRule["rule"]) =>
    table.filter((row) => row.rule === rule).map((row) => [row.name, row.neutral ?? []] as const);
  const topOf = (name: string): string => name.split(/[.[]/)[0] ?? name;
  const bodyWith = (name: string, value: unknown) => ({ ...base, ...context[name], [topOf(name)]: value });

  describe(`Parameters of ${endpoint}`, () => {
    let api: Api;
    beforeAll(async () => {
      api = await Api.open();
      await arrange(api);
    });
    // A new minute: the requests of the last one no longer count.
    beforeEach(() => api.clock.advance(60_000));
    afterAll(() => api[Symbol.asyncDispose]());

    /** What can be seen of a request: its job and its answer, without what differs each time. */
    async function seen(body: object) {
      const { status, text, headers, body: answered } = await api.call("POST", path, { body });
      const submitted = api.jobs.submitted.splice(0).map(({ slug, input }) => ({ slug, input }));
      const answer = text.replaceAll(/"(?:id|created)":[^,]*/g, "");
      return {
        status,
        job: submitted,
        answer,
        ignored: headers.get("atoll-ignored"),
        error: (answered as { error?: unknown } | undefined)?.error ?? undefined,
      };
    }

    it("are a table of docs/openai.md, row by row", () => {
      expectDocumented(endpoint, table);
    });

    it("have one row each, and each row a sample", () => {
      const names = table.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(Object.keys(samples).toSorted()).toEqual(names.toSorted());
    });

    it.each(rows("honoured"))("%s is honoured", async (row) => {
      const plain = await seen({ ...base, ...context[row] });
      const asked = await seen(bodyWith(row, samples[row]));
      expect(asked).toMatchObject({ status: 200, error: undefined });
      if (!unseen.includes(row)) expect(asked).not.toEqual(plain);
    });

    it.each(rows("hint"))("%s is a hint that the response names", async (row, neutrals) => {
      const plain = await seen({ ...base, ...context[row] });
      const asked = await seen(bodyWith(row, samples[row]));
      const { ignored } = asked;
      expect(ignored?.split(", ").map((name) => name.replaceAll(/\[\d+\]/g, "[]"))).toContain(row);
      expect(asked).toEqual({ ...plain, ...(unseen.includes(row) ? { job: asked.job } : {}), ignored });
      if (row.includes(".")) return;
      for (const neutral of [null, ...neutrals]) {
        expect((await seen(bodyWith(row, neutral))).ignored).toBe(plain.ignored);
      }
    });

    it.each(rows("refused"))("%s is refused with its name", async (row, neutrals) => {
      const asked = await seen(bodyWith(row, samples[row]));
      expect(asked).toMatchObject({ status: 422, job: [], error: { code: "validation_failed" } });
      const { details, message } = asked.error as { details: { path: string }[]; message: string };
      expect(details[0]?.path.startsWith(topOf(row))).toBe(true);
      expect(message).toContain(row.split(".").at(-1));
      if (row.includes(".")) return;
      for (const neutral of [null, ...neutrals]) {
        expect(await seen(bodyWith(row, neutral))).toEqual(await seen({ ...base, ...context[row] }));
      }
    });

    it("are refused when they are unknown", async () => {
      const { status, error } = await seen({ ...base, no_such_parameter: 0 });
      expect([status, error]).toMatchObject([422, { details: [{ path: "no_such_parameter" }] }]);
      expect((await seen({ ...base, no_such_parameter: null })).status).toBe(200);
    });
  });
}

/** Compares a table with the section of docs/openai.md that has this heading. */
export function expectDocumented(endpoint: string, table: readonly ParameterRule[]): void {
  const [, section = ""] = readFileSync(DOCUMENT, "utf8").split(`\n## ${endpoint}\n`);
  expect(section.split("\n\n")[0]?.trim()).toBe(documented(table));
}

function documented(table: readonly ParameterRule[]): string {
  const rows = table.map(({ name, rule, note, neutral }) => {
    const taken = neutral?.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
    const notes = [note, taken === undefined ? "" : `taken: ${taken}`].filter((part) => part !== "");
    return `| \`${name}\` | ${rule} | ${notes.join("; ")} |`;
  });
  return ["| Parameter | Rule | Note |", "|---|---|---|", ...rows].join("\n");
}
