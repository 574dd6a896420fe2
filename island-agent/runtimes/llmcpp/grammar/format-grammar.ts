import type { Grammar } from "./gbnf.ts";
import { patternGrammar } from "./pattern-grammar.ts";

const LEAP = "(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29";
const MONTHS =
  "(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8])";
const DATE = `(?:${LEAP}|\\d{4}-(?:${MONTHS}))`;
const CLOCK = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?";
const OFFSET = "(?:Z|[+-](?:0\\d|1[0-4]):[0-5]\\d)";
const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]\\d|\\d)";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,20}[A-Za-z0-9])?";
const HOST = `${LABEL}(?:\\.${LABEL}){0,4}`;
const URL = `https?://${HOST}(?::[1-9]\\d{1,3})?(?:/[A-Za-z0-9_.~-]+)*/?(?:\\?[A-Za-z0-9_=&-]+)?(?:#[A-Za-z0-9_-]+)?`;
const DAYS = "\\d{1,4}D";
const TIME_PARTS = "T(?:\\d{1,4}H(?:\\d{1,4}M)?(?:\\d{1,4}S)?|\\d{1,4}M(?:\\d{1,4}S)?|\\d{1,4}S)";
const PERIOD = `(?:\\d{1,4}Y(?:\\d{1,4}M)?(?:${DAYS})?|\\d{1,4}M(?:${DAYS})?|${DAYS})`;

/** What is written for a format: valid by RFC 3339, 4122, 5321, 3986 and ISO 8601, though not all that is. */
const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: `${CLOCK}${OFFSET}`,
  "date-time": `${DATE}T${CLOCK}${OFFSET}`,
  duration: `P(?:${PERIOD}(?:${TIME_PARTS})?|${TIME_PARTS}|\\d{1,4}W)`,
  email: `[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@${LABEL}(?:\\.${LABEL}){0,2}\\.[A-Za-z]{2,10}`,
  uuid: "[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
  ipv4: `(?:${BYTE}\\.){3}${BYTE}`,
  ipv6: "(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
  hostname: HOST,
  uri: URL,
};

/** Of formats whose usual patterns allow a little that the format does not. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  email: ["a@b.co", "first.last+tag@mail-1.example.org"],
  uuid: ["123e4567-e89b-42d3-a456-426614174000"],
  ipv4: ["10.0.0.255"],
};

/** Whether a pattern says no more than the format beside it, as far as examples show. */
export function isPatternOf(pattern: string, format: unknown): boolean {
  const examples = typeof format === "string" && Object.hasOwn(EXAMPLES, format) ? EXAMPLES[format] : undefined;
  return examples?.every((example) => new RegExp(pattern).test(example)) === true;
}

/** The inside of a JSON string of a format; undefined for one that is not known here. */
export function formatGrammar(format: string): Grammar | undefined {
  const pattern = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return pattern === undefined ? undefined : patternGrammar(`^${pattern}$`);
}
