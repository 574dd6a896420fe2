import { Block, BlockKind } from "./markdown-block";
import {
  CODE_INDENT,
  fenceLength,
  headingLevel,
  indentOf,
  isBlank,
  isQuote,
  isRule,
  ItemMarker,
  readItemMarker,
  runLength,
  trim,
  underlineLevel,
} from "./markdown-line";
import { Text } from "../text";

/** Limit of nested quotes and lists, since each level copies its lines; deeper markers are text. */
const MAX_DEPTH = 32;
const EMPTY = new Text(0, 0);

/** Parses the blocks of `lines`, which have no leading tabs. Supported Markdown: catalog/wasm/markdown-to-html.ts. */
export function parseMarkdown(lines: Text[], depth: i32 = 0): Block[] {
  return new BlockParser(lines, depth).blocks();
}

class BlockParser {
  private lines: Text[];
  private depth: i32;
  private at: i32 = 0;

  constructor(lines: Text[], depth: i32) {
    this.lines = lines;
    this.depth = depth;
  }

  blocks(): Block[] {
    const blocks: Block[] = [];
    let isAfterBlank = false;
    while (this.at < this.lines.length) {
      if (isBlank(this.lines[this.at])) {
        isAfterBlank = true;
        this.at++;
        continue;
      }
      const block = this.block();
      block.isAfterBlank = isAfterBlank;
      isAfterBlank = block.kind == BlockKind.List && isBlank(this.lines[this.at - 1]);
      blocks.push(block);
    }
    return blocks;
  }

  private block(): Block {
    const line = this.lines[this.at];
    if (indentOf(line) >= CODE_INDENT) return this.indentedCode();
    if (fenceLength(line) > 0) return this.fencedCode();
    if (headingLevel(line) > 0) return this.heading();
    if (isRule(line)) {
      this.at++;
      return new Block(BlockKind.Rule);
    }
    if (this.depth < MAX_DEPTH) {
      if (isQuote(line)) return this.quote();
      const marker = readItemMarker(line);
      if (marker !== null) return this.list(marker);
    }
    return this.paragraph();
  }

  private heading(): Block {
    const line = trim(this.lines[this.at]);
    const block = new Block(BlockKind.Heading);
    block.level = headingLevel(this.lines[this.at++]);
    let end = line.length;
    while (end > block.level && line.at(end - 1) == 0x23) end--;
    // Closing # characters count only after a space.
    if (line.at(end - 1) != 0x20 && end > block.level) end = line.length;
    block.lines.push(trim(line.slice(block.level, end)));
    return block;
  }

  private indentedCode(): Block {
    const block = new Block(BlockKind.Code);
    let filled = 0;
    let at = this.at;
    for (; at < this.lines.length; at++) {
      const line = this.lines[at];
      const isEmpty = isBlank(line);
      if (!isEmpty && indentOf(line) < CODE_INDENT) break;
      block.lines.push(line.slice(min(CODE_INDENT, line.length), line.length));
      if (!isEmpty) filled = block.lines.length;
    }
    block.lines.length = filled;
    this.at += filled;
    return block;
  }

  private fencedCode(): Block {
    const block = new Block(BlockKind.Code);
    const opening = this.lines[this.at++];
    const indent = indentOf(opening);
    const length = fenceLength(opening);
    block.info = trim(opening.slice(indent + length, opening.length));
    while (this.at < this.lines.length) {
      const line = this.lines[this.at++];
      const inner = indentOf(line);
      const run = runLength(line, inner);
      const isFence = inner < CODE_INDENT && line.at(inner) == opening.at(indent) && run >= length;
      if (isFence && isBlank(line.slice(inner + run, line.length))) break;
      block.lines.push(line.slice(min(inner, indent), line.length));
    }
    return block;
  }

  private quote(): Block {
    const lines: Text[] = [];
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at];
      const from = indentOf(line) + 1;
      if (isQuote(line)) lines.push(line.slice(line.at(from) == 0x20 ? from + 1 : from, line.length));
      else if (this.goesOn(line, lines)) lines.push(line);
      else break;
    }
    const block = new Block(BlockKind.Quote);
    block.children = parseMarkdown(lines, this.depth + 1);
    return block;
  }

  private list(first: ItemMarker): Block {
    const list = new Block(BlockKind.List);
    list.start = first.number;
    let marker: ItemMarker | null = first;
    while (marker !== null && marker.sign == first.sign && marker.number < 0 == first.number < 0) {
      const isAfterBlank = list.children.length > 0 && isBlank(this.lines[this.at - 1]);
      const item = this.item(marker);
      item.isAfterBlank = isAfterBlank;
      list.children.push(item);
      if (isAfterBlank || hasGap(item)) list.isLoose = true;
      marker = this.at < this.lines.length ? readItemMarker(this.lines[this.at]) : null;
    }
    return list;
  }

  /** Moves past the item and the empty lines after it. */
  private item(marker: ItemMarker): Block {
    const opening = this.lines[this.at++];
    const lines: Text[] = [marker.isEmpty ? EMPTY : opening.slice(marker.offset, opening.length)];
    let filled = 1;
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at];
      if (isBlank(line)) {
        lines.push(EMPTY);
        continue;
      }
      // An item may begin with one empty line, not with two.
      if (marker.isEmpty && filled == 1 && lines.length > 1) break;
      if (indentOf(line) >= marker.offset) lines.push(line.slice(marker.offset, line.length));
      else if (filled == lines.length && this.goesOn(line, lines)) lines.push(line);
      else break;
      filled = lines.length;
    }
    lines.length = filled;
    const block = new Block(BlockKind.Item);
    block.children = parseMarkdown(lines, this.depth + 1);
    return block;
  }

  private paragraph(): Block {
    const block = new Block(BlockKind.Paragraph);
    block.lines.push(this.lines[this.at++]);
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at];
      const level = underlineLevel(line);
      if (level > 0) {
        block.kind = BlockKind.Heading;
        block.level = level;
        this.at++;
        break;
      }
      if (isBlank(line) || this.beginsBlock(line)) break;
      block.lines.push(line);
    }
    return block;
  }

  /** Whether `line`, without marker or indent, continues the paragraph at the end of a quote's or an item's `lines`. */
  private goesOn(line: Text, lines: Text[]): bool {
    const last = lines.length > 0 ? lines[lines.length - 1] : EMPTY;
    const isCode = indentOf(last) >= CODE_INDENT && (lines.length == 1 || isBlank(lines[lines.length - 2]));
    const isText = !isBlank(last) && !isCode && fenceLength(last) == 0 && headingLevel(last) == 0 && !isRule(last);
    if (!isText || isBlank(line) || underlineLevel(line) > 0 || this.beginsBlock(line)) return false;
    // Outside of what it would continue, any marker begins an item.
    return this.depth >= MAX_DEPTH || readItemMarker(line) === null;
  }

  /** Whether `line` ends a paragraph before it. */
  private beginsBlock(line: Text): bool {
    if (headingLevel(line) > 0 || fenceLength(line) > 0 || isRule(line)) return true;
    if (this.depth >= MAX_DEPTH) return false;
    const marker = readItemMarker(line);
    return isQuote(line) || (marker !== null && !marker.isEmpty && marker.number <= 1 && marker.number != 0);
  }
}

function hasGap(item: Block): bool {
  for (let at = 1; at < item.children.length; at++) if (item.children[at].isAfterBlank) return true;
  return false;
}
