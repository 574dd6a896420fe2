import { Bytes } from "./lib/bytes";
import { JobInput, JobOutput } from "./lib/job";
import { LineDiff } from "./lib/line-diff";
import { Text } from "./lib/text";
import { TextTable } from "./lib/text-table";

/** Compares two texts line by line. The output is a unified diff, which `patch` applies. */
const input = new JobInput();
const before = linesOf(input.text("before"));
const after = linesOf(input.text("after"));
const context = input.integer("context", 3, 0, 100);

const table = new TextTable();
const diff = new LineDiff(numbersOf(before), numbersOf(after));
const unified = new Bytes();
let removed = 0;
let added = 0;
for (let at = 0; at < before.length; at++) removed += diff.removed[at];
for (let at = 0; at < after.length; at++) added += diff.added[at];
if (removed + added > 0) {
  unified.putString("--- before\n+++ after\n");
  putHunks();
}

const output = new JobOutput();
output.json.nameText("diff", unified.text());
output.json.nameInteger("added", added);
output.json.nameInteger("removed", removed);
output.json.nameRatio("similarity", before.length + after.length - added - removed, before.length + after.length);
output.send();

/** Lines with their line ends: a last line without one differs from the same line with one. */
function linesOf(text: Text): Text[] {
  const lines: Text[] = [];
  for (let at = 0; at < text.length;) {
    const end = min(text.find(0x0a, at) + 1, text.length);
    lines.push(text.slice(at, end));
    at = end;
  }
  return lines;
}

function numbersOf(lines: Text[]): StaticArray<i32> {
  const numbers = new StaticArray<i32>(lines.length);
  for (let at = 0; at < lines.length; at++) numbers[at] = table.add(lines[at]);
  return numbers;
}

function isRemoved(x: i32): bool {
  return x < before.length && diff.removed[x] != 0;
}

function isAdded(y: i32): bool {
  return y < after.length && diff.added[y] != 0;
}

/** Changes separated by at most twice the context form one hunk. */
function putHunks(): void {
  let x = 0;
  let y = 0;
  while (x < before.length || y < after.length) {
    if (!isRemoved(x) && !isAdded(y)) {
      x++;
      y++;
      continue;
    }
    const lead = min(context, min(x, y));
    let endX = x;
    let endY = y;
    let same = 0;
    while ((endX < before.length || endY < after.length) && same <= context * 2) {
      if (isRemoved(endX)) {
        endX++;
        same = 0;
      } else if (isAdded(endY)) {
        endY++;
        same = 0;
      } else {
        endX++;
        endY++;
        same++;
      }
    }
    const trail = max(0, same - context);
    putHunk(x - lead, endX - trail, y - lead, endY - trail);
    x = endX;
    y = endY;
  }
}

function putHunk(fromX: i32, toX: i32, fromY: i32, toY: i32): void {
  unified.putString("@@ -");
  putRange(fromX, toX - fromX);
  unified.putString(" +");
  putRange(fromY, toY - fromY);
  unified.putString(" @@\n");
  let y = fromY;
  for (let x = fromX; x < toX || y < toY;) {
    if (isRemoved(x)) putLine(0x2d, before[x++]);
    else if (isAdded(y)) putLine(0x2b, after[y++]);
    else {
      putLine(0x20, before[x++]);
      y++;
    }
  }
}

/** An empty range is given as the line before it. */
function putRange(from: i32, count: i32): void {
  unified.putInteger(count == 0 ? from : from + 1);
  if (count == 1) return;
  unified.put(0x2c);
  unified.putInteger(count);
}

function putLine(sign: u32, line: Text): void {
  unified.put(sign);
  unified.putText(line);
  if (line.at(line.length - 1) != 0x0a) unified.putString("\n\\ No newline at end of file\n");
}
