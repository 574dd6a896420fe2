import { Bytes } from "./lib/bytes";
import { widthOf } from "./lib/characters";
import { JobInput, JobOutput } from "./lib/job";
import { Text } from "./lib/text";
import { codePointAt, lengthOf } from "./lib/utf8";

/**
 * Breaks lines at spaces so that they are at most `width` columns wide (`widthOf` gives a character's width). Line ends stay, unless
 * `reflow` first joins the lines of a paragraph; empty lines separate paragraphs. Spaces at the start of a line stay,
 * those at its end are removed; CRLF becomes LF.
 */
const input = new JobInput();
const text = input.text("text");
const width = input.integer("width", 80, 1, 1_000);
const isReflowed = input.flag("reflow", false);
const breaksWords = input.flag("break_words", false);

const wrapped = new Bytes(text.length);
let lines = 1;
let column = 0;
for (let at = 0; at <= text.length;) {
  const end = text.find(0x0a, at);
  wrapLine(text.slice(at, end > at && text.at(end - 1) == 0x0d ? end - 1 : end));
  at = end + 1;
  if (at <= text.length) endLine(at);
}

const output = new JobOutput();
output.json.nameText("text", wrapped.text());
output.json.nameInteger("lines", lines);
output.send();

/** A line end of the input: a new line, or within a reflowed paragraph a space before the next word. */
function endLine(next: i32): void {
  const isJoined = isReflowed && column > 0 && next < text.length && !isEmptyLine(next);
  if (!isJoined) putLineEnd();
}

function isEmptyLine(from: i32): bool {
  let at = from;
  while (text.at(at) == 0x20 || text.at(at) == 0x0d) at++;
  return at == text.length || text.at(at) == 0x0a;
}

function putLineEnd(): void {
  wrapped.put(0x0a);
  lines++;
  column = 0;
}

function wrapLine(line: Text): void {
  let at = 0;
  while (at < line.length) {
    const start = at;
    while (line.at(at) == 0x20) at++;
    const end = line.find(0x20, at);
    if (end > at) putWord(line.slice(at, end), at - start);
    at = end;
  }
}

/** @param spaces before the word; dropped where the line is broken. */
function putWord(word: Text, spaces: i32): void {
  const gap = spaces == 0 && column > 0 ? 1 : spaces;
  const wordWidth = widthOfText(word);
  if (column > 0 && column + gap + wordWidth > width) putLineEnd();
  else {
    wrapped.putRepeated(0x20, gap);
    column += gap;
  }
  if (breaksWords && column + wordWidth > width) return putBroken(word);
  wrapped.putText(word);
  column += wordWidth;
}

function putBroken(word: Text): void {
  for (let at = 0; at < word.length;) {
    const length = lengthOf(word.at(at));
    const columns = widthOf(codePointAt(word, at));
    if (column > 0 && column + columns > width) putLineEnd();
    wrapped.putPart(word, at, at + length);
    column += columns;
    at += length;
  }
}

function widthOfText(text: Text): i32 {
  let width = 0;
  for (let at = 0; at < text.length; at += lengthOf(text.at(at))) width += widthOf(codePointAt(text, at));
  return width;
}
