import { KIB } from "../format-bytes.ts";

/** Amount of JSON that is handled in one turn of the event loop. Parsing it takes about 1 ms. */
export const TURN_CHARS = 64 * KIB;

let last: Promise<void> = Promise.resolve();

/**
 * Resolves in another turn of the event loop, in which no other caller continues. Callers continue in order, so that
 * many long requests hold the loop no longer than one.
 */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise((resolve) => void setImmediate(resolve)));
  return last;
}

/**
 * Maps items in order, in several turns if they are large.
 * @param charsOf size of an item, of which {@link TURN_CHARS} are handled in one turn
 */
export async function mapInTurns<T, R>(
  items: readonly T[],
  charsOf: (item: T) => number,
  map: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const isShort = items.reduce((sum, item) => sum + charsOf(item), 0) <= TURN_CHARS;
  if (isShort) return Promise.all(items.map((item, index) => map(item, index)));
  const results: R[] = [];
  while (results.length < items.length) {
    // oxlint-disable-next-line no-await-in-loop -- The turns are the purpose.
    await ownTurn();
    const first = results.length;
    let end = first;
    for (let chars = 0; end < items.length && chars < TURN_CHARS; end += 1) chars += charsOf(items[end] as T);
    // oxlint-disable-next-line no-await-in-loop -- The turns are the purpose.
    results.push(...(await Promise.all(items.slice(first, end).map((item, index) => map(item, first + index)))));
  }
  return results;
}
