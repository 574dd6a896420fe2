/** Returns "1 model" or "3 models". */
export function describeCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
