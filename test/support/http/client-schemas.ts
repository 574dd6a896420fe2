import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

type Schema = Readonly<Record<string, unknown>>;
const FIXTURES = join(import.meta.dirname, "..", "..", "fixtures", "json-schema");
const recorded = (file: string): Record<string, Schema> =>
  JSON.parse(readFileSync(join(FIXTURES, file), "utf8")) as Record<string, Schema>;

const Everything = z.object({
  text: z.string().min(2).max(20),
  integer: z.int(),
  bounded: z.int().min(1).max(10),
  positive: z.number().positive(),
  half: z.number().min(0).max(10).multipleOf(0.5),
  negative: z.number().min(-3.5).max(-0.25),
  safe: z.number().int().nonnegative(),
  code: z.string().regex(/^[A-Z]{3}-\d{2,4}$/),
  starts: z.string().startsWith("ab"),
  ends: z.string().endsWith("z"),
  includes: z.string().includes("m"),
  lower: z.string().lowercase(),
  email: z.email(),
  uuid: z.uuid(),
  url: z.url(),
  ipv4: z.ipv4(),
  cidr: z.cidrv4(),
  date: z.iso.date(),
  time: z.iso.time(),
  dateTime: z.iso.datetime(),
  duration: z.iso.duration(),
  hostname: z.hostname(),
  base64: z.base64(),
  nanoid: z.nanoid(),
  phone: z.e164(),
  optional: z.string().optional(),
  nullable: z.string().nullable(),
  kind: z.enum(["a", "b"]),
  literal: z.literal([1, "x", null, true]),
  union: z.union([z.string(), z.number()]),
  record: z.record(z.string(), z.int()),
  tuple: z.tuple([z.string(), z.number()]),
  both: z.object({ a: z.int() }).and(z.object({ b: z.string() })),
  tagged: z.discriminatedUnion("k", [z.object({ k: z.literal("a") }), z.object({ k: z.literal("b"), v: z.int() })]),
  some: z.array(z.string()).min(1).max(4),
  any: z.any(),
});
const Tree = z.object({
  name: z.string(),
  get child() {
    return Tree.optional();
  },
  get children() {
    return z.array(Tree);
  },
});

/** Schemas that clients send, by library. The fixture of pydantic was written by version 2.13. */
export const CLIENT_SCHEMAS: readonly (readonly [name: string, schema: Schema])[] = [
  ["zod 4: everything", { ...z.toJSONSchema(Everything) }],
  ["zod 4, draft-7: everything", { ...z.toJSONSchema(Everything, { target: "draft-7" }) }],
  ["zod 4: recursion", { ...z.toJSONSchema(Tree) }],
  ...Object.entries(recorded("pydantic.json")).map(([name, schema]) => [`pydantic: ${name}`, schema] as const),
  ...Object.entries(recorded("openai-guide.json")).map(
    ([name, schema]) => [`OpenAI's guide: ${name}`, schema] as const,
  ),
  [
    // Output of zod 3 for a recursive object, and for an object that is used twice.
    "zod-to-json-schema: places",
    {
      type: "object",
      properties: {
        from: {
          type: "object",
          properties: { street: { type: "string", maxLength: 8 } },
          required: ["street"],
          additionalProperties: false,
        },
        to: { $ref: "#/properties/from" },
        tree: {
          type: "object",
          properties: {
            name: { type: "string", maxLength: 4 },
            children: { type: "array", items: { $ref: "#/properties/tree" }, maxItems: 2 },
          },
          required: ["name", "children"],
          additionalProperties: false,
        },
      },
      required: ["from", "tree"],
      additionalProperties: false,
      $schema: "http://json-schema.org/draft-07/schema#",
    },
  ],
  [
    "mixed",
    {
      $defs: { Named: { type: "object", properties: { name: { type: "string", maxLength: 5 } }, required: ["name"] } },
      allOf: [{ $ref: "#/$defs/Named" }, { properties: { age: { type: "integer", minimum: 3 } }, required: ["age"] }],
      type: "object",
      properties: { mixed: { enum: [1, "a", null, { b: [2] }] }, fixed: { const: { deep: [1, "x"] } } },
      required: ["mixed", "fixed"],
    },
  ],
  [
    "listed names",
    {
      $defs: { Color: { enum: ["red", "green"], title: "Color", type: "string" } },
      type: "object",
      properties: {
        // Output of pydantic for `dict[Color, int]` and `dict[Literal["a"], bool]`, and of zod for a partial record.
        colors: { additionalProperties: { type: "integer" }, propertyNames: { $ref: "#/$defs/Color" }, type: "object" },
        one: { additionalProperties: { type: "boolean" }, propertyNames: { const: "a" }, type: "object" },
        some: z.toJSONSchema(z.partialRecord(z.enum(["b", "ü"]), z.boolean())),
      },
      required: ["colors", "one", "some"],
      additionalProperties: false,
    },
  ],
];
