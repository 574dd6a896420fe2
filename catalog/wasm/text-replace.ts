import { Bytes, putCodePoint } from "./lib/bytes";
import { isWordCharacter } from "./lib/characters";
import { codePointsOf } from "./lib/code-points";
import { fail } from "./lib/fail";
import { JobInput, JobOutput, textOf } from "./lib/job";
import { JsonKind, JsonValue } from "./lib/json-value";
import { Text } from "./lib/text";

const MAX_REPLACEMENTS = 100;

class Replacement {
  find: StaticArray<u32>;
  put: Text;
  count: i32 = 0;

  constructor(find: StaticArray<u32>, put: Text) {
    this.find = find;
    this.put = put;
  }
}

/**
 * Replaces texts in one pass from left to right. Replacements are not searched again, so two names can be swapped. Where several
 * entries match, the first of the list is used.
 */
const input = new JobInput();
const ignoreCase = input.flag("ignore_case", false);
const wholeWords = input.flag("whole_words", false);
const text = codePointsOf(input.text("text"), false);
const searched = ignoreCase ? codePointsOf(input.text("text"), true) : text;
const replacements = readReplacements(input.list("replacements"));

const replaced = new Bytes();
let total = 0;
for (let at = 0; at < text.length;) {
  const match = firstMatch(at);
  if (match === null) putCodePoint(replaced, text[at++]);
  else {
    replaced.putText(match.put);
    at += match.find.length;
    match.count++;
    total++;
  }
}

const output = new JobOutput();
output.json.nameText("text", replaced.text());
output.json.nameInteger("count", total);
output.json.nameList("counts");
for (let at = 0; at < replacements.length; at++) output.json.integer(replacements[at].count);
output.json.endList();
output.send();

function readReplacements(list: JsonValue[]): Replacement[] {
  if (list.length > MAX_REPLACEMENTS) fail<bool>(`"replacements" must be at most ${MAX_REPLACEMENTS}`);
  const replacements: Replacement[] = [];
  for (let at = 0; at < list.length; at++) {
    const find = codePointsOf(field(list[at], "find"), ignoreCase);
    if (find.length == 0) fail<bool>('"find" must not be empty');
    replacements.push(new Replacement(find, field(list[at], "replace")));
  }
  return replacements;
}

function field(item: JsonValue, name: string): Text {
  const value = item.kind == JsonKind.Object ? item.get(Text.of(name)) : null;
  return value === null
    ? fail<Text>(`Each of "replacements" must be an object with "find" and "replace"`)
    : textOf(value, name);
}

function firstMatch(at: i32): Replacement | null {
  const first = searched[at];
  for (let place = 0; place < replacements.length; place++) {
    const replacement = replacements[place];
    if (unchecked(replacement.find[0]) == first && isMatch(replacement.find, at)) return replacement;
  }
  return null;
}

function isMatch(find: StaticArray<u32>, at: i32): bool {
  const end = at + find.length;
  if (end > searched.length) return false;
  for (let offset = 1; offset < find.length; offset++) if (searched[at + offset] != find[offset]) return false;
  return !wholeWords || (isEdge(at) && isEdge(end));
}

/** Whether a word boundary is before `at`. */
function isEdge(at: i32): bool {
  return at == 0 || at == text.length || !isWordCharacter(text[at - 1]) || !isWordCharacter(text[at]);
}
