import { codePointsOf } from "./lib/code-points";
import { fail } from "./lib/fail";
import { JobInput, JobOutput, sendProgress } from "./lib/job";

/** The time is the product of both lengths: 400 million cells take about a second. */
const MAX_CHARACTERS = 20_000;
const PROGRESS_ROWS = 2_000;

/** The minimum number of insertions, deletions and replacements that turn one text into the other. */
const input = new JobInput();
const ignoreCase = input.flag("ignore_case", false);
const a = codePointsOf(input.text("a"), ignoreCase);
const b = codePointsOf(input.text("b"), ignoreCase);
const longest = max(a.length, b.length);
if (longest > MAX_CHARACTERS) fail<bool>(`Texts of at most ${MAX_CHARACTERS} characters can be compared`);

const distance = distanceOf(a, b);
const output = new JobOutput();
output.json.nameInteger("distance", distance);
output.json.nameRatio("similarity", longest - distance, longest);
output.send();

/** The Wagner-Fischer algorithm, one row at a time. */
function distanceOf(a: StaticArray<u32>, b: StaticArray<u32>): i32 {
  let start = 0;
  let endA = a.length;
  let endB = b.length;
  while (start < min(endA, endB) && a[start] == b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] == b[endB - 1]) {
    endA--;
    endB--;
  }
  const width = endB - start;
  const row = new StaticArray<i32>(width + 1);
  for (let at = 0; at <= width; at++) row[at] = at;
  for (let line = start; line < endA; line++) {
    const character = a[line];
    let diagonal = row[0];
    let left = diagonal + 1;
    row[0] = left;
    for (let at = 1; at <= width; at++) {
      const above = row[at];
      const replaced = diagonal + i32(character != b[start + at - 1]);
      left = min(min(left, above) + 1, replaced);
      row[at] = left;
      diagonal = above;
    }
    const done = line + 1 - start;
    if (done % PROGRESS_ROWS == 0) sendProgress(done, endA - start);
  }
  return row[width];
}
