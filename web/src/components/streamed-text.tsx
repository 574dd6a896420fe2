import { useMemo, useRef } from "preact/hooks";

/** Number of characters of one element. A finished element is never laid out again. */
const PIECE_CHARACTERS = 4_000;

/** Shows a growing text. Only its end is rendered again, regardless of its length. */
export function StreamedText({ text }: { readonly text: string }) {
  const ends = useRef<number[]>([]);
  if ((ends.current.at(-1) ?? 0) > text.length) ends.current = [];
  for (
    let from = ends.current.at(-1) ?? 0;
    text.length - from > 2 * PIECE_CHARACTERS;
    from = ends.current.at(-1) ?? 0
  ) {
    // The text is split between two lines, which adds no line break. A very long line is split in its middle.
    const lineEnd = text.lastIndexOf("\n", from + 2 * PIECE_CHARACTERS) + 1;
    ends.current.push(lineEnd > from ? lineEnd : from + PIECE_CHARACTERS);
  }
  const starts = [0, ...ends.current];
  return (
    <div class="output" role="group" aria-label="Output" tabIndex={0}>
      {starts.map((start, index) => (
        <Piece key={start} text={text.slice(start, ends.current[index])} />
      ))}
    </div>
  );
}

function Piece({ text }: { readonly text: string }) {
  return useMemo(() => <div>{text.endsWith("\n") ? text.slice(0, -1) || "\n" : text}</div>, [text]);
}
