import { MAX_INLINE_CHARS, piecesOf, OUTPUT_NAME } from "../../large-json.ts";
import { foldItems, type SplitChunk } from "../../feed-layout.ts";
import { innerToColumn } from "../engine/text.ts";
import type { ChunkArgs, Piece } from "../operations/operations.ts";

/** The pieces in which large values are stored. */
export const piecesToStore = (large: readonly { readonly name: string; readonly json: string }[]): Piece[] =>
  large.flatMap(({ name, json }) => piecesOf(json).map((text, piece) => ({ name, piece, text })));

export function chunkToStore(
  { attempt, seq }: { readonly attempt: number; readonly seq: number | null },
  { items }: SplitChunk,
): ChunkArgs {
  const { layout, text } = foldItems(items);
  return { attempt, seq, items: layout, text: innerToColumn(text) };
}

/** A large output is kept in pieces. */
export function outputToStore(json: string | null): {
  readonly output: string | null;
  readonly largeChars: number | null;
  readonly pieces: readonly Piece[];
} {
  if (json === null || json.length <= MAX_INLINE_CHARS) return { output: json, largeChars: null, pieces: [] };
  return { output: "", largeChars: json.length, pieces: piecesToStore([{ name: OUTPUT_NAME, json }]) };
}
