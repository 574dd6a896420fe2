import type { Grammar, Rules } from "../../../island-agent/runtimes/llmcpp/grammar/gbnf.ts";

/** Depth of rules from which the shortest option is chosen. */
const MAX_DEPTH = 24;
const MAX_MORE = 3;

/** Returns a random text of the grammar. `random` returns numbers from 0 up to, but not including, 1. */
export function sampleGrammar(rules: Rules, random: () => number): string {
  const sizes = shortest(rules);
  const sizeOf = (grammar: Grammar): number => sizeIn(grammar, sizes);
  const pick = (count: number): number => Math.min(count - 1, Math.floor(random() * count));
  const write = (grammar: Grammar, depth: number): string => {
    const isDeep = depth > MAX_DEPTH;
    switch (grammar.kind) {
      case "text":
        return grammar.text;
      case "chars": {
        const [first, last] = grammar.ranges[pick(grammar.ranges.length)] ?? [0x61, 0x61];
        return String.fromCodePoint(first + pick(Math.min(last - first + 1, 400)));
      }
      case "sequence":
        return grammar.parts.map((part) => write(part, depth)).join("");
      case "choice": {
        const options = isDeep
          ? grammar.options.toSorted((a, b) => sizeOf(a) - sizeOf(b)).slice(0, 1)
          : grammar.options;
        const option = options[pick(options.length)];
        return option === undefined ? "" : write(option, depth);
      }
      case "repeat": {
        const more = isDeep ? 0 : pick(Math.min(MAX_MORE, (grammar.max ?? Infinity) - grammar.min) + 1);
        return Array.from({ length: grammar.min + more }, () => write(grammar.part, depth)).join("");
      }
      case "rule": {
        const named = rules.get(grammar.name);
        if (named === undefined) throw new Error(`Unknown rule ${grammar.name}`);
        return write(named, depth + 1);
      }
      default:
        return grammar satisfies never;
    }
  };
  const root = rules.get("root");
  if (root === undefined) throw new Error("The rule root is missing");
  return write(root, 0);
}

/** Returns the minimum depth of rules below each rule, or Infinity for a rule that never ends. */
function shortest(rules: Rules): Map<string, number> {
  const sizes = new Map([...rules.keys()].map((name) => [name, Infinity]));
  for (let changed = true; changed;) {
    changed = false;
    for (const [name, grammar] of rules) {
      const size = 1 + sizeIn(grammar, sizes);
      if (size >= (sizes.get(name) ?? Infinity)) continue;
      sizes.set(name, size);
      changed = true;
    }
  }
  return sizes;
}

function sizeIn(grammar: Grammar, sizes: ReadonlyMap<string, number>): number {
  switch (grammar.kind) {
    case "text":
    case "chars":
      return 0;
    case "sequence":
      return Math.max(0, ...grammar.parts.map((part) => sizeIn(part, sizes)));
    case "choice":
      return Math.min(...grammar.options.map((option) => sizeIn(option, sizes)));
    case "repeat":
      return grammar.min === 0 ? 0 : sizeIn(grammar.part, sizes);
    case "rule":
      return sizes.get(grammar.name) ?? Infinity;
    default:
      return grammar satisfies never;
  }
}
