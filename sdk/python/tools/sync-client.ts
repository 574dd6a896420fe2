const HEAD = "# Generated from the file of the same name in _async by `npm run generate`. Not for editing.\n";

/** What differs between the two clients. In this order: a later rule sees what an earlier one wrote. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\bAsyncGenerator\[(.+), None\]/g, "Generator[$1, None, None]"],
  [/\bAsyncGenerator\b/g, "Generator"],
  [/\bhttpx\.AsyncClient\b/g, "httpx.Client"],
  [/\bAsync(?=[A-Z])/g, ""],
  [/\basync (?=def|for|with)/g, ""],
  [/\bawait /g, ""],
  [/\bfrom anyio import sleep\b/g, "from time import sleep"],
  [/\baclosing\b/g, "closing"],
  [/\b(__)?a(?=(?:iter|enter|exit)__)/g, "__"],
  [/\baiter_bytes\b/g, "iter_bytes"],
  [/\baread\b/g, "read"],
  [/\baclose\b/g, "close"],
];

/** The sync twin of a file of the async client. */
export function syncSource(source: string): string {
  return HEAD + RULES.reduce((text, [pattern, replacement]) => text.replaceAll(pattern, replacement), source);
}
