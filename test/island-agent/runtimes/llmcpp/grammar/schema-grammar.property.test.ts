import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completionFault } from "../../../../../coordinator/catalog/completion-schema.ts";
import { schemaGrammar } from "../../../../../island-agent/runtimes/llmcpp/grammar/schema-grammar.ts";
import { argumentsSchemaOf } from "../../../../../shared/grammar/call-schema.ts";
import { fitsRead } from "../../../../../shared/grammar/grammar-fit.ts";
import { CLIENT_SCHEMAS } from "../../../../support/http/client-schemas.ts";
import { sampleGrammar } from "../../../../support/models/sample-grammar.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Random texts of the schema's grammar, which must all be valid. @param mayOmit as for arguments of tools. */
function assertAgreement(schema: Schema, seed: number, mayOmit: boolean): void {
  const random = generatorOf(seed);
  const read = argumentsSchemaOf({ name: "sampled", description: null, parameters: schema, isStrict: !mayOmit });
  const text = sampleGrammar(schemaGrammar(read), random);
  const value: unknown = JSON.parse(text);
  const fault = completionFault(schema, value);
  // A grammar cannot check uniqueness.
  const faults = {
    text,
    schema,
    fault: fault?.includes("duplicate items") ? null : fault,
    fits: fitsRead(value, read),
  };
  expect(faults).toEqual({ text, schema, fault: null, fits: true });
}

/** Source: mulberry32. */
function generatorOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const bound = fc.oneof(
  fc.integer({ min: -2_000, max: 2_000 }),
  fc.double({ min: -50, max: 50, noNaN: true }).map((x) => Math.round(x * 100) / 100),
);
const numbers = fc
  .record({
    type: fc.constantFrom("integer", "number"),
    low: bound,
    size: fc.integer({ min: 2, max: 5_000 }),
    low_key: fc.constantFrom("minimum", "exclusiveMinimum", null),
    high_key: fc.constantFrom("maximum", "exclusiveMaximum", null),
    multipleOf: fc.option(fc.constantFrom(1, 0.5, 0.01), { nil: undefined }),
  })
  .map(({ type, low, size, low_key: lowKey, high_key: highKey, multipleOf }) => ({
    type,
    ...(lowKey === null ? {} : { [lowKey]: low }),
    ...(highKey === null ? {} : { [highKey]: low + size }),
    ...(multipleOf === undefined || lowKey === null || highKey === null ? {} : { multipleOf }),
  }));
const patterns = fc
  .array(
    fc.constantFrom(
      "a",
      "\\d",
      "[a-c]",
      "(?:x|yz)",
      "[^b-y\\d]",
      ".",
      "\\w+",
      "z{2,3}",
      "(q|r)?",
      "\\.",
      '"',
      "\\\\",
      "é",
      "\\s*",
    ),
  )
  .map((parts) => ({ type: "string", pattern: `^${parts.join("")}$` }));
const strings = fc.oneof(
  fc
    .record({ minLength: fc.nat(4), more: fc.nat(5) })
    .map(({ minLength, more }) => ({ type: "string", minLength, maxLength: minLength + more })),
  patterns,
  fc
    .constantFrom("date", "time", "date-time", "email", "uuid", "ipv4", "ipv6", "hostname", "uri", "duration")
    .map((format) => ({ type: "string", format })),
);
/** Values without members that ajv calls when it compares objects. */
const jsonValues = (maxDepth: number): fc.Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth }).filter((value) => !/"(?:toString|valueOf)":/.test(JSON.stringify(value)));
const leaf: fc.Arbitrary<Schema> = fc.oneof(
  numbers,
  strings,
  fc.constant({ type: "boolean" }),
  fc.constant({ type: ["string", "null"] }),
  jsonValues(2).map((value) => ({ const: value })),
  fc.array(jsonValues(1), { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
  fc.constant({}),
);
const { schema: schemas } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc
      .record({ items: tie("schema"), minItems: fc.nat(2), more: fc.nat(3) })
      .map(({ items, minItems, more }) => ({ type: "array", items, minItems, maxItems: minItems + more })),
    fc
      .array(tie("schema"), { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: "array", prefixItems, items: false })),
    fc
      .dictionary(
        fc.string({ maxLength: 6 }).filter((name) => name !== "__proto__"),
        tie("schema"),
        { maxKeys: 4 },
      )
      .chain((properties) => fc.tuple(fc.constant(properties), fc.subarray(Object.keys(properties))))
      .map(([properties, required]) => ({
        type: "object",
        properties,
        required,
        additionalProperties: false,
      })),
    tie("schema").map((additionalProperties) => ({ type: "object", additionalProperties, maxProperties: 3 })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
}));

describe("schemaGrammar()", () => {
  it.each(CLIENT_SCHEMAS)("accepts only valid texts: %s", (_name, schema) => {
    for (let seed = 0; seed < 60; seed += 1) assertAgreement(schema, seed, seed % 2 === 1);
  });

  it("accepts only valid texts for any schema", () => {
    fc.assert(
      fc.property(schemas, fc.nat(), fc.boolean(), (schema, seed, mayOmit) => assertAgreement(schema, seed, mayOmit)),
      { numRuns: 400 },
    );
  });
});
