/** How far a reader is: by coordinator, the number of its last change that the reader has. */
export type Position = ReadonlyMap<string, number>;

const MAX_CHARS = 8_192;
const PART = /^(\w{1,64})-(\d{1,15})$/;

/** As the id of an event: `<coordinator>-<number>`, joined by dots. */
export function formatPosition(position: Iterable<readonly [string, number]>): string {
  return [...position].map(([source, seq]) => `${source}-${seq}`).join(".");
}

/** Empty for a text that is no position. */
export function parsePosition(text: string): Position {
  const parts = text.length > MAX_CHARS ? [] : text.split(".").map((part) => PART.exec(part));
  if (parts.includes(null)) return new Map();
  return new Map(parts.map((part) => [part?.[1] ?? "", Number(part?.[2])]));
}
