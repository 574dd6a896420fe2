import { isJsonObject } from "../../../../shared/json-value.ts";
import { chars, choice, optional, repeat, rule, sequence, text, type Grammar, type Rules } from "./gbnf.ts";
import { numberGrammar } from "./number-grammar.ts";
import { patternGrammar, STRING_CHAR } from "./pattern-grammar.ts";

const LEAP_DAY = "(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29";
const MONTHS =
  "(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8])";
const DATE = `(?:${LEAP_DAY}|\\d{4}-(?:${MONTHS}))`;
const CLOCK = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?";
const OFFSET = "(?:Z|[+-](?:0\\d|1[0-4]):[0-5]\\d)";
const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]\\d|\\d)";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,20}[A-Za-z0-9])?";
const HOST = `${LABEL}(?:\\.${LABEL}){0,4}`;
const URL = `https?://${HOST}(?::[1-9]\\d{1,3})?(?:/[A-Za-z0-9_.~-]+)*/?(?:\\?[A-Za-z0-9_=&-]+)?(?:#[A-Za-z0-9_-]+)?`;
const DAYS = "\\d{1,4}D";
const TIME_PARTS = "T(?:\\d{1,4}H(?:\\d{1,4}M)?(?:\\d{1,4}S)?|\\d{1,4}M(?:\\d{1,4}S)?|\\d{1,4}S)";
const DATE_PARTS = `(?:\\d{1,4}Y(?:\\d{1,4}M)?(?:${DAYS})?|\\d{1,4}M(?:${DAYS})?|${DAYS})`;
/** Patterns by format. They match some of the valid texts of RFC 3339, 4122, 5321, 3986 and ISO 8601. */
const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: `${CLOCK}${OFFSET}`,
  "date-time": `${DATE}T${CLOCK}${OFFSET}`,
  duration: `P(?:${DATE_PARTS}(?:${TIME_PARTS})?|${TIME_PARTS}|\\d{1,4}W)`,
  email: `[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@${LABEL}(?:\\.${LABEL}){0,2}\\.[A-Za-z]{2,10}`,
  uuid: "[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
  ipv4: `(?:${BYTE}\\.){3}${BYTE}`,
  ipv6: "(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
  hostname: HOST,
  uri: URL,
};
/** Texts of formats whose usual patterns allow slightly more than the format. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  email: ["a@b.co", "first.last+tag@mail-1.example.org"],
  uuid: ["123e4567-e89b-42d3-a456-426614174000"],
  ipv4: ["10.0.0.255"],
};

type Schema = Readonly<Record<string, unknown>>;

const QUOTE = text('"');
const SPACE = rule("space");
const ANY = rule("any");
const COMMA = sequence(text(","), SPACE);

/**
 * Returns the grammar of a schema that `grammarSchemaOf` has read. JSON texts of the grammar have the schema's types,
 * names, lengths and bounds, and its patterns and formats if a grammar can express them.
 */
export function schemaGrammar(schema: Schema): Rules {
  return new SchemaWriter(schema).write();
}

class SchemaWriter {
  readonly #root: Schema;
  readonly #definitions: readonly string[];
  readonly #rules = new Map<string, Grammar>();

  constructor(root: Schema) {
    this.#root = root;
    this.#definitions = isJsonObject(root["$defs"]) ? Object.keys(root["$defs"]) : [];
  }

  write(): Rules {
    this.#rules.set("root", this.#value(this.#root));
    const definitions = isJsonObject(this.#root["$defs"]) ? this.#root["$defs"] : {};
    for (const [index, name] of this.#definitions.entries()) {
      this.#rules.set(`def${index}`, this.#value(definitions[name]));
    }
    for (const [name, grammar] of COMMON_RULES) this.#rules.set(name, grammar);
    return this.#rules;
  }

  #value(schema: unknown): Grammar {
    if (!isJsonObject(schema)) return ANY;
    const { $ref, oneOf, enum: values, type } = schema;
    if (typeof $ref === "string") return rule(`def${this.#definitions.indexOf($ref.slice("#/$defs/".length))}`);
    if (Array.isArray(oneOf)) {
      const checked = oneOf.filter((each) => !hasUncheckedPattern(each));
      return choice(...(checked.length === 0 ? oneOf : checked).map((each) => this.#value(each)));
    }
    if (Object.hasOwn(schema, "const")) return literal(schema["const"]);
    if (Array.isArray(values)) return choice(...values.map(literal));
    if (Array.isArray(type)) return choice(...type.map((each) => this.#typed(each, schema)));
    return this.#typed(type, schema);
  }

  #typed(type: unknown, schema: Schema): Grammar {
    switch (type) {
      case "object":
        return this.#object(schema);
      case "array":
        return this.#array(schema);
      case "string":
        return stringGrammar(schema);
      case "number":
      case "integer":
        return numberOf(schema, type === "integer");
      case "boolean":
        return choice(text("true"), text("false"));
      case "null":
        return text("null");
      default:
        return ANY;
    }
  }

  #object({ properties, optional: left, additionalProperties, propertyNames, ...counts }: Schema): Grammar {
    if (!isJsonObject(properties)) {
      const { minProperties, maxProperties } = counts;
      const name = isJsonObject(propertyNames) ? this.#named(this.#value(propertyNames)) : rule("string");
      const value = isJsonObject(additionalProperties) ? this.#value(additionalProperties) : ANY;
      const member = sequence(name, text(":"), SPACE, value);
      return encloseInBraces("{", list(member, countOf(minProperties) ?? 0, countOf(maxProperties)), "}");
    }
    const mayMiss = new Set(Array.isArray(left) ? left : []);
    const members = Object.entries(properties).map(([name, value]): Member => {
      const written = sequence(literal(name), text(":"), SPACE, this.#value(value));
      return { written: this.#named(written), isOptional: mayMiss.has(name) };
    });
    return encloseInBraces("{", this.#members(members), "}");
  }

  /** Writes members, some of which may be optional, in order and with commas between them. */
  #members(members: readonly Member[]): Grammar {
    let rest: Grammar = text("");
    let restAfterComma: Grammar = text("");
    for (const { written, isOptional } of members.toReversed()) {
      const here = sequence(written, restAfterComma);
      const afterComma = sequence(COMMA, written, restAfterComma);
      rest = isOptional ? choice(here, rest) : here;
      restAfterComma = isOptional
        ? this.#named(sequence(optional(sequence(COMMA, written)), restAfterComma))
        : afterComma;
    }
    return rest;
  }

  #array({ items, prefixItems, minItems, maxItems }: Schema): Grammar {
    const first = Array.isArray(prefixItems) ? prefixItems.map((each) => this.#value(each)) : [];
    const item = items === undefined ? ANY : this.#named(this.#value(items));
    const [min, max] = [countOf(minItems) ?? first.length, countOf(maxItems)];
    if (first.length === 0) return encloseInBraces("[", list(item, min, max), "]");
    // Writes at least the required items, and at most the allowed ones, from the first on.
    const written = first.slice(0, Math.min(first.length, max ?? Infinity));
    const others = repeat(
      sequence(COMMA, item),
      Math.max(0, min - written.length),
      max === null ? null : Math.max(0, max - written.length),
    );
    const [head, ...tail] = written;
    if (head === undefined) return encloseInBraces("[", text(""), "]");
    return encloseInBraces("[", sequence(head, ...tail.flatMap((each) => [COMMA, each]), others), "]");
  }

  /** Returns a separate rule for a repeated part, so that the grammar grows only with the schema. */
  #named(grammar: Grammar): Grammar {
    if (grammar.kind === "rule" || grammar.kind === "text") return grammar;
    const name = `part${this.#rules.size}`;
    this.#rules.set(name, grammar);
    return rule(name);
  }
}

interface Member {
  readonly written: Grammar;
  readonly isOptional: boolean;
}

function list(part: Grammar, min: number, max: number | null): Grammar {
  if (max === 0) return text("");
  const more = repeat(sequence(COMMA, part), Math.max(0, min - 1), max === null ? null : max - 1);
  const all = sequence(part, more);
  return min === 0 ? optional(all) : all;
}

function encloseInBraces(open: string, inside: Grammar, close: string): Grammar {
  return sequence(text(open), SPACE, inside, SPACE, text(close));
}

function literal(value: unknown): Grammar {
  return text(JSON.stringify(value));
}

/** Returns whether a grammar cannot express the string's pattern; output may then be rejected afterwards. */
function hasUncheckedPattern(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  const { pattern, format } = schema;
  if (typeof pattern !== "string" || patternGrammar(pattern) !== undefined) return false;
  return typeof format !== "string" || formatGrammar(format) === undefined;
}

/** Prefers the pattern, mostly narrower than its format (zod writes both). Without both, any string. */
function stringGrammar({ pattern, format, minLength, maxLength }: Schema): Grammar {
  const special =
    (typeof pattern === "string" && !isPatternOf(pattern, format) ? patternGrammar(pattern) : undefined) ??
    (typeof format === "string" ? formatGrammar(format) : undefined);
  if (special !== undefined) return sequence(QUOTE, special, QUOTE);
  const [min, max] = [countOf(minLength) ?? 0, countOf(maxLength)];
  if (min === 0 && max === null) return rule("string");
  return sequence(QUOTE, repeat(STRING_CHAR, min, max), QUOTE);
}

function numberOf(schema: Schema, isInteger: boolean): Grammar {
  const boundOf = (name: string, otherwise: number): number => countOf(schema[name]) ?? otherwise;
  const [minimum, above] = [boundOf("minimum", -Infinity), boundOf("exclusiveMinimum", -Infinity)];
  const [maximum, below] = [boundOf("maximum", Infinity), boundOf("exclusiveMaximum", Infinity)];
  const grammar = numberGrammar({
    isInteger,
    minimum: Math.max(minimum, above),
    maximum: Math.min(maximum, below),
    isAboveMinimum: above >= minimum && above !== -Infinity,
    isBelowMaximum: below <= maximum && below !== Infinity,
    multipleOf: countOf(schema["multipleOf"]),
  });
  return grammar ?? rule(isInteger ? "integer" : "number");
}

function countOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

const ANY_NUMBER = {
  minimum: -Infinity,
  maximum: Infinity,
  isAboveMinimum: false,
  isBelowMaximum: false,
  multipleOf: null,
};
const COMMON_RULES: readonly (readonly [string, Grammar])[] = [
  // Spaces between members and after names: none, one, or an indented new line.
  ["space", choice(text(""), text(" "), sequence(text("\n"), repeat(chars([0x20, 0x20]), 0, 20)))],
  ["string", sequence(QUOTE, repeat(STRING_CHAR, 0, null), QUOTE)],
  ["integer", numberGrammar({ ...ANY_NUMBER, isInteger: true }) ?? text("0")],
  ["number", numberGrammar({ ...ANY_NUMBER, isInteger: false }) ?? text("0")],
  ["member", sequence(rule("string"), text(":"), SPACE, ANY)],
  ["anyobject", encloseInBraces("{", list(rule("member"), 0, null), "}")],
  ["anyarray", encloseInBraces("[", list(ANY, 0, null), "]")],
  [
    "any",
    choice(
      rule("anyobject"),
      rule("anyarray"),
      rule("string"),
      rule("number"),
      text("true"),
      text("false"),
      text("null"),
    ),
  ],
];

/** Returns whether a pattern adds nothing to its format, as far as the examples show. */
function isPatternOf(pattern: string, format: unknown): boolean {
  const examples = typeof format === "string" && Object.hasOwn(EXAMPLES, format) ? EXAMPLES[format] : undefined;
  return examples?.every((example) => new RegExp(pattern).test(example)) === true;
}

/** Returns the inside of a JSON string of a format; undefined for unknown formats. */
function formatGrammar(format: string): Grammar | undefined {
  const pattern = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return pattern === undefined ? undefined : patternGrammar(`^${pattern}$`);
}
