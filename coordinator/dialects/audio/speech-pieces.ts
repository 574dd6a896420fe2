/**
 * Cuts a text for jobs of at most `maxChars` UTF-16 units each: between sentences, in longer sentences between words, in longer words
 * between characters. Pieces have something other than white space.
 */
export function speechPieces(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const part of partsOf(text, maxChars)) {
    if (piece.length + part.length > maxChars) {
      pieces.push(piece);
      piece = "";
    }
    piece += part;
  }
  return [...pieces, piece].map((each) => each.trim()).filter((each) => each !== "");
}

function* partsOf(text: string, maxChars: number): Generator<string, void, void> {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)) {
    if (segment.length <= maxChars) yield segment;
    else yield* wordsOf(segment, maxChars);
  }
}

function* wordsOf(sentence: string, maxChars: number): Generator<string, void, void> {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(sentence)) {
    if (segment.length <= maxChars) yield segment;
    else yield* segment;
  }
}
