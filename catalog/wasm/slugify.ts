import { Bytes, putCodePoint } from "./lib/bytes";
import { isCombining, isLetter, toLower } from "./lib/characters";
import { fail } from "./lib/fail";
import { JobInput, JobOutput } from "./lib/job";
import { isDigit } from "./lib/json-parser";
import { foldLatin } from "./lib/latin-fold";
import { Text } from "./lib/text";
import { codePointAt, countCodePoints, lengthOf } from "./lib/utf8";

/**
 * Makes a URL slug: Latin letters lose their diacritics, digits stay, apostrophes are removed, everything else becomes one separator.
 * So do letters of other scripts, unless `keep_unicode`.
 */
const input = new JobInput();
const text = input.text("text");
const separator = input.textOr("separator", "-");
const isLower = input.flag("lowercase", true);
const keepUnicode = input.flag("keep_unicode", false);
const maxLength = input.integer("max_length", 200, 1, 1_000);
if (!separator.is("-") && !separator.is("_") && !separator.is(".")) fail<bool>('"separator" must be "-", "_" or "."');

const slug = new Bytes();
let isAfterGap = false;
for (let at = 0; at < text.length; at += lengthOf(text.at(at))) putCharacter(codePointAt(text, at));
if (slug.length == 0) fail<bool>("The text has no Latin letter or digit to make a slug of");

const output = new JobOutput();
output.json.nameText("slug", shorten(slug.text()));
output.send();

function putCharacter(codePoint: u32): void {
  if (isCombining(codePoint) || codePoint == 0x27 || codePoint == 0x2019) return;
  const isPlain = codePoint < 0x80 && (isDigit(codePoint) || isLetter(codePoint));
  const folded = isPlain ? "" : foldLatin(codePoint);
  if (!isPlain && folded == "" && !(keepUnicode && codePoint >= 0x80 && isLetter(codePoint))) {
    isAfterGap = slug.length > 0;
    return;
  }
  if (isAfterGap) slug.putText(separator);
  isAfterGap = false;
  if (folded == "") return put(codePoint);
  for (let at = 0; at < folded.length; at++) put(folded.charCodeAt(at));
}

function put(codePoint: u32): void {
  putCodePoint(slug, isLower ? toLower(codePoint) : codePoint);
}

/** Shortens to as many whole words as fit; a first word that is too long is cut. */
function shorten(slug: Text): Text {
  if (countCodePoints(slug) <= maxLength) return slug;
  let end = 0;
  for (let count = 0; count < maxLength; count++) end += lengthOf(slug.at(end));
  let word = end;
  while (word > 0 && slug.at(word) != separator.at(0)) word--;
  return slug.slice(0, word > 0 ? word : end);
}
