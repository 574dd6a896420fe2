import fc from "fast-check";
import { expect, it } from "vitest";
import { chatInputJsonSchema } from "../../../coordinator/catalog/default-schemas.ts";
import { type Checks, openChecks } from "../../../coordinator/checks/checks.ts";
import { MAX_TOOL_CALLS } from "../../../shared/chat-tools.ts";
import { ValidationError } from "../../../shared/errors.ts";
import { systemClock } from "../../../shared/clock.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { watchTicks } from "../../support/longest-tick.ts";
import { HAS_EVERY_ROUND } from "../../support/soak-rounds.ts";

type Schema = Record<string, unknown>;

const SEED = 20_261_127;
const DURATION_MS = HAS_EVERY_ROUND ? 600_000 : 10_000;
/** Maximum CPU time of a turn of the event loop: twice the goal, because other processes share the caches of its core. */
const MAX_TICK_MS = 100;
const WARM_UP = 20;

const name = fc.constantFrom("a", "b", "c", "list", "__proto__", "toString", "$ref");
const scalar = fc.oneof(fc.constantFrom<unknown>(null, true, 0, -0, 1, 1e300, "", "a"), fc.string({ maxLength: 20 }));
const pattern = fc.constantFrom("^a*$", "^(?=(a+)+$)b", "(a|aa)+$", "^(?:[\\p{L}]{1,9}){1,9}$", "^[a-z]{3}", "((");
const count = fc.constantFrom(0, 1, 2, 1_000);

const { schema, value } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.constantFrom<unknown>(true, {}, { type: "string" }, { $ref: "#" }, { $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }),
    fc.record({ type: fc.constant("string"), pattern, minLength: count }, { requiredKeys: ["type"] }),
    fc.record({ enum: fc.array(tie("value"), { minLength: 1, maxLength: 250, size: "max" }) }),
    fc.record({ const: tie("value") }),
    fc.record(
      { type: fc.constant("array"), items: tie("schema"), uniqueItems: fc.boolean(), minItems: count, maxItems: count },
      { requiredKeys: ["type"] },
    ),
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(name, tie("schema"), { maxKeys: 4, noNullPrototype: true }),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        additionalProperties: tie("schema"),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 4 }) }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 4 }) }),
  ),
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

const root = fc
  .record({ body: schema, a: schema, b: schema, copies: fc.constantFrom(1, 1, 1, 20, 300) })
  .map(({ body, a, b, copies }): Schema => {
    const own = typeof body === "object" && body !== null ? (body as Schema) : {};
    if (copies === 1) return { ...own, $defs: { a, b } };
    const properties = Object.fromEntries(Array.from({ length: copies }, (_, index) => [`p${index}`, own]));
    return { type: "object", properties, $defs: { a, b } };
  });
/** Texts of answers: small values, and large ones with many equal or different items. */
const text = fc
  .record({ value, items: fc.constantFrom(0, 0, 0, 1_000, 30_000), isNested: fc.boolean(), isCut: fc.boolean() })
  .map(({ value: each, items, isNested, isCut }) => {
    const list = Array.from({ length: items }, (_, index) => (isNested ? each : index));
    const json = JSON.stringify(items === 0 ? each : { a: list, list });
    return isCut ? json.slice(0, -1) : json;
  });
const round = fc.record({
  schema: root,
  text,
  /** Number of tool calls that carry the text; 0 for a completion that is the text. */
  callCount: fc.constantFrom(0, 0, 1, MAX_TOOL_CALLS),
  isStrict: fc.boolean(),
});

/** Checks a request with the schema, and an answer to it. Errors of the request are expected, others are not. */
async function run(checks: Checks, accountId: string, given: RoundOf) {
  const { schema: its, text: json, callCount, isStrict } = given;
  const isTool = callCount > 0;
  const tools = [{ name: "f", description: null, parameters: { ...its, type: "object" }, isStrict }];
  const functions = tools.map(({ parameters }) => ({
    type: "function",
    function: { name: "f", parameters, strict: isStrict },
  }));
  const format = { type: "json_schema" as const, json_schema: { name: "a", schema: its } };
  const input = { prompt: "a", ...(isTool ? { tools: functions } : { response_format: format }) };
  const cargo = { isChat: true, inputSchema: chatInputJsonSchema, contextTokens: 8_192 };
  try {
    await checks.inputs(accountId, cargo, [{ root: "input", input }]);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return false;
  }
  // An output has a maximum size, which all calls share.
  const args = callCount > 1 && json.length > MIB / 2 ? "{}" : json;
  const call = { id: "1", type: "function" as const, function: { name: "f", arguments: args } };
  await checks.answer(accountId, {
    text: isTool ? "" : json,
    calls: Array.from({ length: callCount }, () => call),
    finishReason: isTool ? "tool_calls" : "stop",
    request: {
      responseFormat: isTool ? { type: "text" } : format,
      stopBytes: 0,
      toolUse: isTool ? { tools, isRequired: true, maxCalls: MAX_TOOL_CALLS } : null,
    },
  });
  return true;
}
type RoundOf = typeof round extends fc.Arbitrary<infer T> ? T : never;

it(
  "schemas and answers of any kind neither fail a check nor hold the event loop",
  { timeout: DURATION_MS * 3 + 60_000 },
  async () => {
    const checks = openChecks(systemClock);
    const seed = HAS_EVERY_ROUND ? Date.now() : SEED;
    let [batches, rounds, accepted, longestMs] = [0, 0, 0, 0];
    const endMs = performance.now() + DURATION_MS;
    while (performance.now() < endMs || rounds < WARM_UP * 2) {
      // Values are generated outside the measurement.
      const given = fc.sample(round, { seed: seed + batches, numRuns: 10 });
      batches += 1;
      for (const each of given) {
        // The API refuses larger bodies.
        if (JSON.stringify(each.schema).length > MIB) continue;
        const ticks = watchTicks();
        // Each account has a budget, so each round is another account's.
        if (await run(checks, `account ${rounds}`, each)) accepted += 1;
        const tickMs = ticks.stop();
        rounds += 1;
        if (rounds <= WARM_UP) continue;
        longestMs = Math.max(longestMs, tickMs);
        const sizes = [JSON.stringify(each.schema), each.text].map(({ length }) => length);
        expect(tickMs, `seed ${seed + batches - 1}, characters ${sizes.join(" and ")}`).toBeLessThan(MAX_TICK_MS);
      }
    }
    await checks.close();
    if (HAS_EVERY_ROUND)
      process.stdout.write(
        `${rounds} rounds, ${accepted} accepted, longest turn ${longestMs.toFixed(0)} ms of CPU time\n`,
      );
    expect(accepted).toBeGreaterThan(rounds / 20);
  },
);
