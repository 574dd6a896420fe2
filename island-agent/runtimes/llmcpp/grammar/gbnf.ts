/** A grammar before it is written in llama.cpp's notation. */
export type Grammar =
  | { readonly kind: "text"; readonly text: string }
  /** One code point of any of the ranges, whose ends are inclusive. */
  | { readonly kind: "chars"; readonly ranges: readonly CodeRange[] }
  | { readonly kind: "sequence"; readonly parts: readonly Grammar[] }
  | { readonly kind: "choice"; readonly options: readonly Grammar[] }
  /** Repetition; `max` is null for any number of times. */
  | { readonly kind: "repeat"; readonly part: Grammar; readonly min: number; readonly max: number | null }
  | { readonly kind: "rule"; readonly name: string };

export type CodeRange = readonly [first: number, last: number];
/** Rules by name. A text starts with the first rule. */
export type Rules = ReadonlyMap<string, Grammar>;

export const text = (value: string): Grammar => ({ kind: "text", text: value });
export const sequence = (...parts: readonly Grammar[]): Grammar => ({ kind: "sequence", parts });
export const choice = (...options: readonly Grammar[]): Grammar =>
  options.length === 1 && options[0] !== undefined ? options[0] : { kind: "choice", options };
export const chars = (...ranges: readonly CodeRange[]): Grammar => ({ kind: "chars", ranges });
export const repeat = (part: Grammar, min: number, max: number | null): Grammar => ({ kind: "repeat", part, min, max });
export const optional = (part: Grammar): Grammar => repeat(part, 0, 1);
export const rule = (name: string): Grammar => ({ kind: "rule", name });
export const EMPTY = text("");
export const DIGIT = chars([0x30, 0x39]);
export const NON_ZERO = chars([0x31, 0x39]);

/** Writes the rules in GBNF. Source: grammars/README.md of llama.cpp. */
export function writeRules(rules: Rules): string {
  return [...rules].map(([name, grammar]) => `${name} ::= ${written(grammar)}\n`).join("");
}

function written(grammar: Grammar): string {
  switch (grammar.kind) {
    case "text":
      return `"${Array.from(grammar.text, (char) => escapeCode(char.codePointAt(0) ?? 0)).join("")}"`;
    case "chars":
      return `[${grammar.ranges.map(([first, last]) => (first === last ? escapeCode(first) : `${escapeCode(first)}-${escapeCode(last)}`)).join("")}]`;
    case "sequence":
      return grammar.parts.length === 0 ? '""' : grammar.parts.map(addParentheses).join(" ");
    case "choice":
      return grammar.options.map(written).join(" | ");
    case "repeat":
      return `${addParentheses(grammar.part)}${quantifier(grammar.min, grammar.max)}`;
    case "rule":
      return grammar.name;
    default:
      return grammar satisfies never;
  }
}

function addParentheses(grammar: Grammar): string {
  const isAtom = grammar.kind === "text" || grammar.kind === "chars" || grammar.kind === "rule";
  return isAtom ? written(grammar) : `(${written(grammar)})`;
}

function quantifier(min: number, max: number | null): string {
  if (min === 0 && max === null) return "*";
  if (min === 0 && max === 1) return "?";
  return max === min ? `{${min}}` : `{${min},${max ?? ""}}`;
}

/** Keeps letters and digits, and escapes all other characters by code, so that none has a special meaning. */
function escapeCode(code: number): string {
  const char = String.fromCodePoint(code);
  if (/[A-Za-z0-9 _:,.{}@/]/.test(char)) return char;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
