import { recentMap } from "../../shared/recent-map.ts";

/** Texts that are remembered; of more, some are in memory twice. */
const MAX_TEXTS = 10_000;

/** A copy of a text that came in a frame, which does not hold the whole frame in memory as a part of it would. */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}

/** What many Islands say alike, such as the names of models, as one string for all of them. */
export class SharedTexts {
  readonly #texts = recentMap<string>(MAX_TEXTS);

  one(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const own = ownText(text);
    this.#texts.set(own, own);
    return own;
  }
}
