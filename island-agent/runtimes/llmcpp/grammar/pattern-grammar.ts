import { chars, choice, EMPTY, repeat, sequence, text, type CodeRange, type Grammar } from "./gbnf.ts";

const MAX_PATTERN = 600;
/** Maximum sum of the repeat counts of a pattern, since llama.cpp expands each repetition. */
const MAX_REPEATS = 1_000;
/** Unescaped characters of JSON strings: no control characters, quote, backslash or halves of surrogate pairs. */
const UNESCAPED: readonly CodeRange[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
  [0xa0, 0xd7ff],
  [0xe000, 0x10ffff],
];
const ALL: readonly CodeRange[] = [[0, 0x10ffff]];
const NEWLINES: readonly CodeRange[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const DIGITS: readonly CodeRange[] = [[0x30, 0x39]];
const WORD: readonly CodeRange[] = [...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
const SPACES: readonly CodeRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
];
/** JSON escapes of the other characters. */
const JSON_ESCAPES: readonly (readonly [code: number, text: string])[] = [
  [0x22, '\\"'],
  [0x5c, "\\\\"],
  [0x0a, "\\n"],
  [0x09, "\\t"],
];
const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b };

export const STRING_CHAR = jsonChar(ALL);

/**
 * Returns the inside of a JSON string that matches a regular expression. Without anchors, the expression may have any
 * text around it. Returns undefined for features that a grammar cannot express: look-around, back references, word
 * boundaries, Unicode properties, anchors in groups.
 */
export function patternGrammar(pattern: string): Grammar | undefined {
  if (pattern.length > MAX_PATTERN) return undefined;
  try {
    return new PatternReader(pattern).readAll();
  } catch (error) {
    if (error instanceof NoGrammar) return undefined;
    throw error;
  }
}

class NoGrammar extends Error {}

class PatternReader {
  readonly #chars: readonly string[];
  #at = 0;
  #repeats = 0;

  constructor(pattern: string) {
    this.#chars = Array.from(pattern);
  }

  readAll(): Grammar {
    const options = [this.#readTop()];
    while (this.#take("|")) options.push(this.#readTop());
    if (this.#at < this.#chars.length) throw new NoGrammar();
    return choice(...options);
  }

  /** Reads an alternative outside all groups: its anchors mark the start and end of the string. */
  #readTop(): Grammar {
    const before = this.#take("^") ? EMPTY : repeat(STRING_CHAR, 0, null);
    const parts = this.#readParts();
    const after = this.#take("$") ? EMPTY : repeat(STRING_CHAR, 0, null);
    return sequence(before, ...parts, after);
  }

  #readParts(): Grammar[] {
    const parts: Grammar[] = [];
    for (let next = this.#peek(); next !== undefined && !"|)$".includes(next); next = this.#peek()) {
      parts.push(this.#readQuantifier(this.#readAtom()));
    }
    return parts;
  }

  #readAtom(): Grammar {
    const char = this.#next();
    switch (char) {
      case "(":
        return this.#readGroup();
      case "[":
        return jsonChar(this.#readClass());
      case ".":
        return jsonChar(excludeRanges(NEWLINES));
      case "\\":
        return jsonChar(this.#readEscape());
      case "^":
      case "*":
      case "+":
      case "?":
      case "{":
      case "}":
      case "]":
        throw new NoGrammar();
      default:
        return jsonChar(singleCharacter(char));
    }
  }

  #readGroup(): Grammar {
    if (this.#take("?")) {
      if (this.#take("<")) {
        if (this.#peek() === "=" || this.#peek() === "!") throw new NoGrammar();
        while (this.#next() !== ">");
      } else if (!this.#take(":")) throw new NoGrammar();
    }
    const options = [sequence(...this.#readParts())];
    while (this.#take("|")) options.push(sequence(...this.#readParts()));
    if (!this.#take(")")) throw new NoGrammar();
    return choice(...options);
  }

  #readQuantifier(part: Grammar): Grammar {
    const [min, max] = this.#readCounts();
    // Lazy quantifiers match the same texts.
    if (min !== 1 || max !== 1) this.#take("?");
    if ("*+?{".includes(this.#peek() ?? " ")) throw new NoGrammar();
    if (min === 1 && max === 1) return part;
    this.#repeats += Math.max(min, max ?? 0);
    if (this.#repeats > MAX_REPEATS || (max !== null && max < min)) throw new NoGrammar();
    return repeat(part, min, max);
  }

  #readCounts(): readonly [min: number, max: number | null] {
    if (this.#take("*")) return [0, null];
    if (this.#take("+")) return [1, null];
    if (this.#take("?")) return [0, 1];
    if (this.#peek() !== "{") return [1, 1];
    const counts = /^\{(\d{1,4})(,(\d{1,4})?)?\}/.exec(this.#chars.slice(this.#at, this.#at + 12).join(""));
    if (counts === null) throw new NoGrammar();
    this.#at += counts[0].length;
    const min = Number(counts[1]);
    if (counts[2] === undefined) return [min, min];
    return [min, counts[3] === undefined ? null : Number(counts[3])];
  }

  #readClass(): readonly CodeRange[] {
    const isNegated = this.#take("^");
    const ranges: CodeRange[] = [];
    while (!this.#take("]")) {
      const first = this.#readClassPart();
      const isRange = this.#peek() === "-" && this.#chars[this.#at + 1] !== "]" && first.length === 1;
      if (!isRange) {
        ranges.push(...first);
        continue;
      }
      this.#at += 1;
      const [last] = this.#readClassPart();
      if (last === undefined || last[0] !== last[1] || first[0]?.[0] !== first[0]?.[1]) throw new NoGrammar();
      ranges.push([first[0]?.[0] ?? 0, last[0]]);
    }
    return isNegated ? excludeRanges(ranges) : ranges;
  }

  #readClassPart(): readonly CodeRange[] {
    const char = this.#next();
    return char === "\\" ? this.#readEscape() : singleCharacter(char);
  }

  #readEscape(): readonly CodeRange[] {
    const char = this.#next();
    const control = CONTROLS[char];
    if (control !== undefined) return [[control, control]];
    switch (char) {
      case "d":
        return DIGITS;
      case "D":
        return excludeRanges(DIGITS);
      case "w":
        return WORD;
      case "W":
        return excludeRanges(WORD);
      case "s":
        return SPACES;
      case "S":
        return excludeRanges(SPACES);
      case "x":
        return this.#readCode(2);
      case "u":
        return this.#readCode(4);
      default:
        // The remaining letters and digits have meanings that grammars do not support.
        if (/[A-Za-z0-9]/.test(char)) throw new NoGrammar();
        return singleCharacter(char);
    }
  }

  #readCode(digits: number): readonly CodeRange[] {
    const hex = this.#chars.slice(this.#at, this.#at + digits).join("");
    if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length < digits) throw new NoGrammar();
    this.#at += digits;
    const code = Number.parseInt(hex, 16);
    return [[code, code]];
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #next(): string {
    const char = this.#chars[this.#at];
    if (char === undefined) throw new NoGrammar();
    this.#at += 1;
    return char;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }
}

/** Returns one character of the ranges, as JSON writes it in a string. */
function jsonChar(ranges: readonly CodeRange[]): Grammar {
  const plain = intersection(ranges, UNESCAPED);
  const escapes = JSON_ESCAPES.filter(([code]) => ranges.some(([first, last]) => first <= code && code <= last));
  const options = [...(plain.length > 0 ? [chars(...plain)] : []), ...escapes.map(([, escape]) => text(escape))];
  if (options.length === 0) throw new NoGrammar();
  return choice(...options);
}

function singleCharacter(char: string): readonly CodeRange[] {
  const code = char.codePointAt(0) ?? 0;
  return [[code, code]];
}

function intersection(some: readonly CodeRange[], others: readonly CodeRange[]): CodeRange[] {
  return some.flatMap(([a, b]) =>
    others.flatMap(([c, d]): CodeRange[] =>
      Math.max(a, c) <= Math.min(b, d) ? [[Math.max(a, c), Math.min(b, d)]] : [],
    ),
  );
}

function excludeRanges(excluded: readonly CodeRange[]): readonly CodeRange[] {
  let rest: readonly CodeRange[] = ALL;
  for (const [first, last] of excluded)
    rest = intersection(rest, [
      [0, first - 1],
      [last + 1, 0x10ffff],
    ]);
  return rest;
}
