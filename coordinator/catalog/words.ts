/** A list of words that are written one after the other, over as many lines as they need. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
