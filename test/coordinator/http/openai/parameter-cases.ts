import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { requestParameters } from "../../../../tools/generated/api.ts";
import { parameterRows, type ParameterRow } from "../../../../tools/generated/parameter-tables.ts";
import { Api } from "../api.ts";
import { CARGOS_WITH_IMAGES } from "../api-catalog.ts";

export interface ParameterCases {
  /** Endpoint whose schema declares the parameters, such as "POST /chat/completions". */
  readonly endpoint: string;
  /** Smallest body that the endpoint accepts. */
  readonly base: Readonly<Record<string, unknown>>;
  /**
   * For each parameter, a value of the top-level parameter that contains it. Use {@link context} if it needs other
   * parameters.
   */
  readonly samples: Readonly<Record<string, unknown>>;
  /** Other parameters that a sample needs, by the name of its parameter. */
  readonly context?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Supported parameters whose effect is visible neither in the job nor in the response. */
  readonly unseen?: readonly string[];
  /** Completes the jobs of the API, or creates the resources that requests name. */
  readonly arrange: (api: Api) => void | Promise<void>;
}

/** Parameters of every endpoint that submits jobs at once. */
const TERMS = { trust: "proven", audit: "never" };

/** Posts each parameter that an endpoint's schema declares to a coordinator. */
export function describeParameters(cases: ParameterCases): void {
  const { endpoint, base, context = {}, unseen = [], arrange } = cases;
  const samples = endpoint === "POST /batches" ? cases.samples : { ...TERMS, ...cases.samples };
  const path = endpoint.replace("POST ", "");
  const table = parameterRows(requestParameters().get(endpoint)!);
  const rows = (rule: ParameterRow["rule"]) =>
    table.filter((row) => row.rule === rule).map((row) => [row.name, row.neutral] as const);
  const topOf = (name: string): string => name.split(/[.[]/)[0] ?? name;
  const bodyWith = (name: string, value: unknown) => ({ ...base, ...context[name], [topOf(name)]: value });

  describe(`the parameters of ${endpoint}`, () => {
    let api: Api;
    beforeAll(async () => {
      api = await Api.open();
      api.catalog.replace(CARGOS_WITH_IMAGES);
      await arrange(api);
    });
    // A new minute starts, so that earlier requests no longer count.
    beforeEach(() => api.clock.advance(60_000));
    afterAll(() => api[Symbol.asyncDispose]());

    /**
     * Returns the visible effect of a request, which is its job and its response without the parts that always differ.
     */
    async function seen(body: object) {
      const { status, text, headers, body: answered } = await api.call("POST", path, { body });
      const submitted = api.jobs.submitted
        .splice(0)
        .map(({ slug, input, trust, audit }) => ({ slug, input, trust, audit }));
      const response = text.replaceAll(/"(?:id|created)":[^,]*/g, "");
      return {
        status,
        job: submitted,
        response,
        ignored: headers.get("atoll-ignored"),
        error: (answered as { error?: unknown } | undefined)?.error ?? undefined,
      };
    }

    it("have one declaration and one sample each", () => {
      const names = table.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(Object.keys(samples).toSorted()).toEqual(names.toSorted());
    });

    it.each(rows("honoured"))("%s is supported", async (row) => {
      const plain = await seen({ ...base, ...context[row] });
      const asked = await seen(bodyWith(row, samples[row]));
      expect(asked).toMatchObject({ status: 200, error: undefined });
      if (!unseen.includes(row)) expect(asked).not.toEqual(plain);
    });

    it.each(rows("ignored"))("%s is ignored, and the response names it", async (row, neutrals) => {
      const plain = await seen({ ...base, ...context[row] });
      const asked = await seen(bodyWith(row, samples[row]));
      const { ignored } = asked;
      expect(ignored?.split(", ").map((name) => name.replaceAll(/\[\d+\]/g, "[]"))).toContain(row);
      expect(asked).toEqual({ ...plain, ignored });
      if (row.includes(".")) return;
      for (const neutral of [null, ...neutrals]) {
        expect((await seen(bodyWith(row, neutral))).ignored).toBe(plain.ignored);
      }
    });

    it.each(rows("refused"))("%s is refused by name", async (row, neutrals) => {
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

    it("are refused if unknown", async () => {
      const { status, error } = await seen({ ...base, no_such_parameter: 0 });
      expect([status, error]).toMatchObject([422, { details: [{ path: "no_such_parameter" }] }]);
      expect((await seen({ ...base, no_such_parameter: null })).status).toBe(200);
    });
  });
}
