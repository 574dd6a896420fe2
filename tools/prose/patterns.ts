/**
 * Patterns of stilted English, explained in `CONTRIBUTING.md`. They miss many cases. Sometimes they match a correct
 * sentence, which is then listed in `budgets.json`.
 */
export const PATTERNS = {
  "a sentence that begins with Of":
    /(?:^\s*|[.;:] )Of (?:a|an|the|each|all|what|those|its|one|this|two|several|more|others?|jobs|accounts)\b/,
  "Who … for a thing that has a name":
    /(?:^|[.;:,|] )\s*[Ww]ho(?:ever)? (?:has|is|finds|takes|asks|comes|runs|tries|needs|reads|knows|stops|gives|had|was|gets|loses|can|may)\b/,
  "What … for a thing that has a name":
    /(?:^|[.;:|] )\s*[Ww]hat [^.?;:|]{2,60}\b(?:is|are|was|were|gets|counts|stays|has|names)\b/,
  "is no …, is none":
    /(?<!here )(?<!if )\b(?:is|are|was|were) no (?!longer|more|such|other|need|\d|way)[a-z]+|\b(?:is|are) none(?! of)\b/,
  "anybody, nobody, somebody": /\b(?:any|no|some|every)body(?:'s)?\b/i,
  "an archaic adverb":
    /\b(?:anew|beside|in vain|for good|so many|by now|meanwhile|belongs? into)\b|\bby (?:itself|themselves)\b|\balone\b/i,
} satisfies Record<string, RegExp>;

/** Maximum length of a cell of a Markdown table, in characters. */
export const MAX_CELL_CHARS = 200;

/** Returns the patterns that match the text. Ignores code in backticks. */
export function patternsIn(text: string): string[] {
  const prose = text.replaceAll(/`[^`]*`/g, "`X`");
  return Object.entries(PATTERNS).flatMap(([name, pattern]) => {
    const count = [...prose.matchAll(new RegExp(pattern, `${pattern.flags}g`))].length;
    return Array.from({ length: count }, () => name);
  });
}

/** Returns the cells of a row that are too long. A link counts only with its text. */
export const longCells = (row: string): string[] =>
  row.startsWith("|")
    ? row
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll(/\]\([^)]*\)/g, "]"))
        .filter((cell) => cell.length > MAX_CELL_CHARS)
    : [];
