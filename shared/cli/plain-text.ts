/**
 * Escapes line breaks, escape sequences and direction marks, with which texts of other users could hide or forge lines.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16) ?? ""}}`);
}

/** Escapes a text like {@link plain}, but keeps its line breaks. */
export function plainLines(text: string): string {
  return text.split("\n").map(plain).join("\n");
}
