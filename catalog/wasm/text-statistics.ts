import { Bytes, putCodePoint } from "./lib/bytes";
import { isLetter, isWhiteSpace, toLower } from "./lib/characters";
import { JobInput, JobOutput } from "./lib/job";
import { isDigit } from "./lib/json-parser";
import { Text } from "./lib/text";
import { TextTable } from "./lib/text-table";
import { codePointAt, lengthOf } from "./lib/utf8";

const TOP_WORDS = 20;

const input = new JobInput();
const text = input.text("text");
const words = new TextTable();
const counts: i32[] = [];
let characters = 0;
let spaces = 0;
let wordCount = 0;
let sentences = 0;
let lines = 1;

countCharacters();
countWords(toLowerCase());
sendAnswer();

/**
 * A sentence ends with . ! ? or … before white space or the end (so not within "3.14"), or with 。！？ anywhere; it has a letter or a
 * digit.
 */
function countCharacters(): void {
  let isInSentence = false;
  let mayEnd = false;
  for (let at = 0; at < text.length; at += lengthOf(text.at(at))) {
    const codePoint = codePointAt(text, at);
    characters++;
    const isSpace = isWhiteSpace(codePoint);
    if (isSpace) spaces++;
    if (codePoint == 0x0a) lines++;
    if (mayEnd && isSpace && isInSentence) {
      sentences++;
      isInSentence = false;
    }
    if (codePoint == 0x3002 || codePoint == 0xff01 || codePoint == 0xff1f) {
      if (isInSentence) sentences++;
      isInSentence = false;
    }
    if (isLetter(codePoint) || isDigit(codePoint)) {
      isInSentence = true;
      mayEnd = false;
    } else if (codePoint == 0x2e || codePoint == 0x21 || codePoint == 0x3f || codePoint == 0x2026) mayEnd = true;
    else if (isSpace) mayEnd = false;
  }
  if (isInSentence) sentences++;
}

function toLowerCase(): Text {
  const lower = new Bytes(text.length);
  for (let at = 0; at < text.length; at += lengthOf(text.at(at))) putCodePoint(lower, toLower(codePointAt(text, at)));
  return lower.text();
}

/** A word is a run of letters; an apostrophe between two letters is part of it. */
function countWords(lower: Text): void {
  let start = -1;
  for (let at = 0; at <= lower.length; at += max(1, lengthOf(lower.at(at)))) {
    const codePoint = codePointAt(lower, at);
    if (at < lower.length && isLetter(codePoint)) {
      if (start < 0) start = at;
    } else if (start >= 0) {
      const isApostrophe = codePoint == 0x27 || codePoint == 0x2019;
      if (isApostrophe && isLetter(codePointAt(lower, at + lengthOf(lower.at(at))))) continue;
      countWord(lower.slice(start, at));
      start = -1;
    }
  }
}

function countWord(word: Text): void {
  wordCount++;
  const place = words.add(word);
  if (place == counts.length) counts.push(1);
  else counts[place]++;
}

function sendAnswer(): void {
  const output = new JobOutput();
  output.json.nameInteger("characters", characters);
  output.json.nameInteger("characters_without_spaces", characters - spaces);
  output.json.nameInteger("bytes", text.length);
  output.json.nameInteger("words", wordCount);
  output.json.nameInteger("sentences", sentences);
  output.json.nameInteger("lines", lines);
  output.json.nameInteger("distinct_words", counts.length);
  output.json.nameList("top_words");
  for (let rank = 0; rank < min(TOP_WORDS, words.texts.length); rank++) {
    let top = 0;
    for (let place = 1; place < counts.length; place++) if (counts[place] > counts[top]) top = place;
    output.json.beginObject();
    output.json.nameText("word", words.texts[top]);
    output.json.nameInteger("count", counts[top]);
    output.json.endObject();
    counts[top] = 0;
  }
  output.json.endList();
  output.send();
}
