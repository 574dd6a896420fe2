import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addHashedKeywords } from "../../../coordinator/catalog/hashed-keywords.ts";

// Ajv's own comparison throws for members with these names.
const name = fc.string({ maxLength: 3 }).filter((each) => !["valueOf", "toString", "constructor"].includes(each));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<unknown>(0, 1, "", "a", null, true, false),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const keywords = fc.oneof(
  fc.record({ enum: fc.array(json, { minLength: 1, maxLength: 5 }) }),
  fc.record({ const: json }),
  fc.record({ uniqueItems: fc.boolean() }),
);

const [plain, hashed] = [new Ajv2020({ strict: false }), new Ajv2020({ strict: false, logger: false })];
addHashedKeywords(hashed);

describe("addHashedKeywords()", () => {
  it("keeps the result and the first message of each check", () => {
    fc.assert(
      fc.property(keywords, fc.array(json, { maxLength: 5 }), (keyword, list) => {
        const schema = { items: keyword, ...("uniqueItems" in keyword ? keyword : {}) };
        const [expected, actual] = [plain.compile(schema), hashed.compile(schema)];
        expect(actual(list)).toBe(expected(list));
        const messages = [expected, actual].map(({ errors }) =>
          errors?.map(({ keyword: failed, instancePath, message = "", params }) => ({
            failed,
            instancePath,
            message: message.replace(/\(.*/, ""),
            names: Object.keys(params).toSorted(),
          })),
        );
        expect(messages[1]).toEqual(messages[0]);
      }),
    );
  });

  it("validates the meta-schema as before", () => {
    expect([{ type: "object" }, { type: "text" }].map((schema) => hashed.validateSchema(schema))).toEqual([
      true,
      false,
    ]);
  });
});
