import fc from "fast-check";

const HUGE_CHARS = 1_200_000;
const LEVELS = 200;

/** Texts that have caused server errors. */
export const badTexts: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\0",
    "a\0b",
    "\uD800",
    "\uDFFFx\uD83D",
    "\u202Eabc\u200B\uFEFF",
    "e\u0301".repeat(50),
    "💥".repeat(300),
    "NaN",
    "-1",
    "1e400",
    "0x10",
    "9007199254740993",
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "' OR 1=1 --",
    "%",
    "%s%n",
    "\r\nx: y",
    "2026-13-45T99:99:99Z",
  ),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.integer({ min: 200, max: 20_000 }).map((length) => "x".repeat(length)),
);

/** Values of all types, to replace values of another type. */
export const badValues: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: badTexts },
  {
    weight: 6,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      0.5,
      1e308,
      -1e-308,
      2 ** 53,
      2 ** 31,
      2 ** 63,
      [],
      {},
      [[]],
      [null],
      JSON.parse('{"then": 1, "toString": 1, "valueOf": null, "length": -1}'),
      JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {}}}'),
    ),
  },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom("[", "{").map((kind) => nested(kind === "[")) },
  { weight: 1, arbitrary: fc.constantFrom(200, 5_000).map((length) => Array.from({ length }, () => "x")) },
);

/** Texts above the limit of a body. */
export const hugeText = fc.constantFrom("x", "é", " ").map((unit) => unit.repeat(HUGE_CHARS));

function nested(isList: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < LEVELS; level += 1) value = isList ? [value] : { a: value };
  return value;
}

/** One change of a value, at the member selected by `at`. */
export interface Change {
  readonly at: number;
  readonly kind: "replace" | "remove" | "add" | "repeat";
  readonly value: unknown;
}

export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    at: fc.nat(),
    kind: fc.constantFrom("replace", "replace", "remove", "add", "repeat"),
    value: badValues,
  }),
  { minLength: 1, maxLength: 3 },
);

type Container = Record<string, unknown>;

/** Returns a copy of `value` with the change. */
export function changed(value: unknown, { at, kind, value: other }: Change): unknown {
  const box: Container = { value: structuredClone(value) };
  const places = placesIn(box);
  const [container, key] = places[at % places.length] as [Container, string];
  const target = container[key];
  if (kind === "replace") container[key] = other;
  else if (kind === "remove") delete container[key];
  else if (kind === "repeat") container[key] = [target, target];
  else if (typeof target === "object" && target !== null) (target as Container)["another"] = other;
  else container["another"] = other;
  return box["value"];
}

function placesIn(container: Container, depth = 0): [Container, string][] {
  return Object.entries(container).flatMap(([key, value]): [Container, string][] => {
    const isDeeper = typeof value === "object" && value !== null && depth < 8;
    return [[container, key], ...(isDeeper ? placesIn(value as Container, depth + 1) : [])];
  });
}
