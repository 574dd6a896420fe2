import { Bytes } from "./lib/bytes";
import { fail } from "./lib/fail";
import { putEscaped } from "./lib/markdown/html";
import { JobInput, JobOutput } from "./lib/job";
import { Block, BlockKind } from "./lib/markdown/markdown-block";
import { putInline } from "./lib/markdown/markdown-inline";
import { trim } from "./lib/markdown/markdown-line";
import { parseMarkdown } from "./lib/markdown/markdown-parser";
import { Text } from "./lib/text";

const MAX_LINES = 50_000;
const TAB_SPACES = 4;

/**
 * Converts a safe subset of CommonMark 0.31 to HTML: headings (both kinds), paragraphs, hard line breaks, `*` and `_` emphasis, code (spans,
 * fenced, indented), quotes, nested lists, rules, inline links and images, `<https://…>` and `<name@host>`, backslash escapes.
 * HTML and character references in the text are escaped; reference links are text. Links and images may have http, https, mailto or
 * relative addresses; of others only the text stays.
 */
const input = new JobInput();
const html = new Bytes();
putBlocks(parseMarkdown(linesOf(input.text("markdown"))), false);

const output = new JobOutput();
output.json.nameText("html", html.text());
output.send();

function linesOf(text: Text): Text[] {
  const lines: Text[] = [];
  for (let at = 0; at < text.length;) {
    const end = text.find(0x0a, at);
    const isCrLf = end > at && text.at(end - 1) == 0x0d;
    lines.push(withoutTabs(text.slice(at, isCrLf ? end - 1 : end)));
    at = end + 1;
  }
  if (lines.length > MAX_LINES) fail<bool>(`The text has more than ${MAX_LINES} lines`);
  return lines;
}

/** Leading tabs go to the next multiple of four columns. */
function withoutTabs(line: Text): Text {
  let start = 0;
  let column = 0;
  for (; line.at(start) == 0x20 || line.at(start) == 0x09; start++)
    column += line.at(start) == 0x20 ? 1 : TAB_SPACES - (column % TAB_SPACES);
  if (column == start) return line;
  const spaced = new Bytes(column + line.length - start);
  spaced.putRepeated(0x20, column);
  spaced.putPart(line, start, line.length);
  return spaced.text();
}

function putBlocks(blocks: Block[], isTight: bool): void {
  for (let at = 0; at < blocks.length; at++) {
    const isWordsOnly = isTight && blocks[at].kind == BlockKind.Paragraph;
    putBlock(blocks[at], isWordsOnly);
    if (!isWordsOnly || at + 1 < blocks.length) html.put(0x0a);
  }
}

function putBlock(block: Block, isWordsOnly: bool): void {
  switch (block.kind) {
    case BlockKind.Paragraph: {
      if (isWordsOnly) return putInline(html, joined(block.lines));
      return putElement("p", block.lines);
    }
    case BlockKind.Heading:
      return putElement(`h${block.level}`, block.lines);
    case BlockKind.Code:
      return putCode(block);
    case BlockKind.Quote: {
      html.putString("<blockquote>\n");
      putBlocks(block.children, false);
      return html.putString("</blockquote>");
    }
    case BlockKind.List:
      return putList(block);
    default:
      return html.putString("<hr />");
  }
}

function putElement(name: string, lines: Text[]): void {
  html.putString(`<${name}>`);
  putInline(html, joined(lines));
  html.putString(`</${name}>`);
}

/** A hard break counts only between two lines. */
function joined(lines: Text[]): Text {
  const text = new Bytes();
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const trimmed = trim(line);
    if (at > 0) text.put(0x0a);
    // Spaces at the end of a line are a hard break.
    if (at + 1 < lines.length) text.putPart(line, (trimmed.ptr - line.ptr) as i32, line.length);
    else text.putText(trimmed);
  }
  return text.text();
}

function putCode(block: Block): void {
  const info = block.info;
  if (info.length == 0) html.putString("<pre><code>");
  else {
    html.putString('<pre><code class="language-');
    putEscaped(html, info.slice(0, info.find(0x20, 0)));
    html.putString('">');
  }
  for (let at = 0; at < block.lines.length; at++) {
    putEscaped(html, block.lines[at]);
    html.put(0x0a);
  }
  html.putString("</code></pre>");
}

function putList(list: Block): void {
  if (list.start < 0) html.putString("<ul>\n");
  else html.putString(list.start == 1 ? "<ol>\n" : `<ol start="${list.start}">\n`);
  for (let at = 0; at < list.children.length; at++) {
    const blocks = list.children[at].children;
    html.putString("<li>");
    if (blocks.length > 0 && (list.isLoose || blocks[0].kind != BlockKind.Paragraph)) html.put(0x0a);
    putBlocks(blocks, !list.isLoose);
    html.putString("</li>\n");
  }
  html.putString(list.start < 0 ? "</ul>" : "</ol>");
}
