import { Bytes } from "../bytes";
import { isWhiteSpace, isWordCharacter } from "../characters";
import { putEscaped } from "./html";
import { Delimiters } from "./markdown-emphasis";
import { LinkTarget, readLinkTarget } from "./markdown-link";
import { runLength, trim } from "./markdown-line";
import { Piece } from "./markdown-piece";
import { Text } from "../text";
import { codePointAt, codePointBefore } from "../utf8";
import { isSafeAddress, putAddress } from "./web-address";

/** Open brackets at once; further ones are text. Each image copies its text. */
const MAX_BRACKETS = 32;
const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

class Bracket {
  piece: i32;
  isImage: bool;
  /** The delimiter before it, or -1. */
  delimiter: i32;

  constructor(piece: i32, isImage: bool, delimiter: i32) {
    this.piece = piece;
    this.isImage = isImage;
    this.delimiter = delimiter;
  }
}

/** Puts the HTML of a paragraph's or heading's text. */
export function putInline(html: Bytes, text: Text): void {
  const parser = new InlineParser(text);
  parser.parse();
  for (let at = 0; at < parser.pieces.length; at++) parser.pieces[at].putHtml(html);
}

class InlineParser {
  pieces: Piece[];
  private text: Text;
  private at: i32 = 0;
  /** Start of the text that is not in a piece yet. */
  private plain: i32 = 0;
  private delimiters: Delimiters;
  private brackets: Bracket[] = [];
  /** Brackets below this one contain a link, so they cannot be links themselves. */
  private spent: i32 = 0;

  constructor(text: Text) {
    const pieces: Piece[] = [];
    this.text = text;
    this.pieces = pieces;
    this.delimiters = new Delimiters(pieces);
  }

  parse(): void {
    while (this.at < this.text.length) {
      const byte = this.text.at(this.at);
      if (byte == 0x5c) this.escape();
      else if (byte == 0x60) this.codeSpan();
      else if (byte == 0x2a || byte == 0x5f) this.delimiter(byte);
      else if (byte == 0x5b) this.openBracket(1, false);
      else if (byte == 0x21 && this.text.at(this.at + 1) == 0x5b) this.openBracket(2, true);
      else if (byte == 0x5d) this.closeBracket();
      else if (byte == 0x3c) this.autolink();
      else if (byte == 0x0a) this.lineEnd();
      else this.at++;
    }
    this.flush();
    this.delimiters.match(-1);
  }

  /** Makes a piece of the text up to here. */
  private flush(): void {
    if (this.at > this.plain) this.pieces.push(Piece.words(this.text.slice(this.plain, this.at)));
    this.plain = this.at;
  }

  /** Replaces the next `length` bytes by `pieces`. */
  private replace(length: i32, pieces: Piece[]): void {
    this.flush();
    for (let at = 0; at < pieces.length; at++) this.pieces.push(pieces[at]);
    this.at += length;
    this.plain = this.at;
  }

  private escape(): void {
    const next = this.text.at(this.at + 1);
    if (next == 0x0a) return this.replace(2, [Piece.tag("<br />\n")]);
    if (!isPunctuation(next)) {
      this.at++;
      return;
    }
    this.replace(1, []);
    this.at++;
  }

  private lineEnd(): void {
    let end = this.at;
    while (end > this.plain && this.text.at(end - 1) == 0x20) end--;
    const spaces = this.at - end;
    this.at = end;
    this.replace(spaces + 1, [Piece.tag(spaces >= 2 ? "<br />\n" : "\n")]);
  }

  private codeSpan(): void {
    const length = runLength(this.text, this.at);
    const start = this.at + length;
    let end = this.text.find(0x60, start);
    while (end < this.text.length) {
      const run = runLength(this.text, end);
      if (run == length) {
        const code = Piece.words(codeOf(this.text.slice(start, end)));
        return this.replace(end + length - this.at, [Piece.tag("<code>"), code, Piece.tag("</code>")]);
      }
      end = this.text.find(0x60, end + run);
    }
    this.at = start;
  }

  /** Left- and right-flanking runs, CommonMark section 6.2. */
  private delimiter(byte: u32): void {
    const length = runLength(this.text, this.at);
    const before = this.at == 0 ? 0x20 : codePointBefore(this.text, this.at);
    const end = this.at + length;
    const after = end == this.text.length ? 0x20 : codePointAt(this.text, end);
    const isLeft = !isWhiteSpace(after) && (!isPunctuation(after) || isWhiteSpace(before) || isPunctuation(before));
    const isRight = !isWhiteSpace(before) && (!isPunctuation(before) || isWhiteSpace(after) || isPunctuation(after));
    const isStar = byte == 0x2a;
    this.flush();
    const canOpen = isLeft && (isStar || !isRight || isPunctuation(before));
    const canClose = isRight && (isStar || !isLeft || isPunctuation(after));
    this.pieces.push(Piece.delimiter(this.text.slice(this.at, end), canOpen, canClose));
    this.delimiters.add(this.pieces.length - 1);
    this.at = end;
    this.plain = end;
  }

  private openBracket(length: i32, isImage: bool): void {
    if (this.brackets.length == MAX_BRACKETS) {
      this.at += length;
      return;
    }
    this.replace(length, [Piece.words(this.text.slice(this.at, this.at + length))]);
    this.brackets.push(new Bracket(this.pieces.length - 1, isImage, this.delimiters.last));
  }

  private closeBracket(): void {
    const depth = this.brackets.length - 1;
    const bracket = depth >= 0 ? this.brackets.pop() : null;
    const isSpent = depth < this.spent;
    this.spent = min(this.spent, max(depth, 0));
    let target: LinkTarget | null = null;
    if (bracket !== null && (!isSpent || bracket.isImage)) target = readLinkTarget(this.text, this.at + 1);
    if (bracket === null || target === null) {
      this.at++;
      return;
    }
    this.flush();
    this.delimiters.match(bracket.delimiter);
    if (bracket.isImage) this.image(bracket.piece, target);
    else {
      this.link(bracket.piece, target);
      this.spent = depth;
    }
    this.at = target.end;
    this.plain = target.end;
  }

  private link(opening: i32, target: LinkTarget): void {
    if (!isSafeAddress(target.address)) {
      this.pieces[opening] = Piece.tag("");
      return;
    }
    const tag = new Bytes(64);
    tag.putString('<a href="');
    putAddress(tag, target.address);
    putTitle(tag, target.title);
    tag.putString('">');
    this.pieces[opening] = new Piece(tag.text(), false);
    this.pieces.push(Piece.tag("</a>"));
  }

  /** The description is the text between the brackets, without tags. If the address is refused, only that text stays. */
  private image(opening: i32, target: LinkTarget): void {
    const words = new Bytes(64);
    for (let at = opening + 1; at < this.pieces.length; at++) this.pieces[at].putWords(words);
    this.pieces.length = opening;
    if (!isSafeAddress(target.address)) {
      this.pieces.push(Piece.words(words.text()));
      return;
    }
    const tag = new Bytes(64);
    tag.putString('<img src="');
    putAddress(tag, target.address);
    tag.putString('" alt="');
    putEscaped(tag, words.text());
    putTitle(tag, target.title);
    tag.putString('" />');
    const image = new Piece(tag.text(), false);
    image.alt = words.text();
    this.pieces.push(image);
  }

  /** `<https://…>` or `<name@host>`. */
  private autolink(): void {
    let end = this.at + 1;
    while (end < this.text.length && this.text.at(end) > 0x20 && this.text.at(end) != 0x3c && this.text.at(end) != 0x3e)
      end++;
    const address = this.text.slice(this.at + 1, min(end, this.text.length));
    const isMail = address.find(0x40, 1) < address.length - 1 && address.find(0x3a, 0) == address.length;
    const isLink =
      isSafeAddress(address) &&
      (address.has("http", 0) || address.has("mailto:", 0)) &&
      address.find(0x3a, 0) < address.length;
    if (this.text.at(end) != 0x3e || !(isMail || isLink)) {
      this.at++;
      return;
    }
    const tag = new Bytes(64);
    tag.putString(isMail ? '<a href="mailto:' : '<a href="');
    putAddress(tag, address);
    tag.putString('">');
    this.replace(end + 1 - this.at, [new Piece(tag.text(), false), Piece.words(address), Piece.tag("</a>")]);
  }
}

function putTitle(tag: Bytes, title: Text | null): void {
  if (title === null) return;
  tag.putString('" title="');
  putEscaped(tag, title);
}

/** Line ends become spaces. One space at both ends is removed, since it only separates backticks. */
function codeOf(span: Text): Text {
  const code = new Bytes(span.length);
  for (let at = 0; at < span.length; at++) code.put(span.at(at) == 0x0a ? 0x20 : span.at(at));
  const text = code.text();
  const hasSpaces = text.at(0) == 0x20 && text.at(text.length - 1) == 0x20 && trim(text).length > 0;
  return hasSpaces ? text.slice(1, text.length - 1) : text;
}

/** ASCII punctuation; beyond ASCII everything but letters and white space. */
function isPunctuation(codePoint: u32): bool {
  if (codePoint < 0x80) return PUNCTUATION.indexOf(String.fromCharCode(codePoint)) >= 0;
  return !isWordCharacter(codePoint) && !isWhiteSpace(codePoint);
}
