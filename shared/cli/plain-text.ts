/** Texts of others could hide or forge lines with line breaks, escape sequences or marks of direction. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16) ?? ""}}`);
}

/** As {@link plain}, of a text whose line breaks are ours. */
export function plainLines(text: string): string {
  return text.split("\n").map(plain).join("\n");
}
