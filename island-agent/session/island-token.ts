/** Island tokens begin with `it_` and have 43 characters. Source: DESIGN §4 and §5. */
export function isIslandToken(text: string): boolean {
  return /^it_[0-9A-Za-z]{40}$/.test(text);
}
