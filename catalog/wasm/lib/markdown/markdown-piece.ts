import { Bytes } from "../bytes";
import { putEscaped } from "./html";
import { Text } from "../text";

const STRONG: u32 = 2;

/** Part of a line's HTML: text, a tag, or a run of `*` or `_` that may become tags. */
export class Piece {
  text: Text;
  isEscaped: bool;
  /** The text content of a tag: an image's description. */
  alt: Text = new Text(0, 0);
  /** Characters of a run that are not yet used for tags. */
  count: i32 = 0;
  canOpen: bool = false;
  canClose: bool = false;
  /** Neighbours in the list of runs, -1 for none. */
  previous: i32 = -1;
  next: i32 = -1;
  /** Kinds of the tags made, from the innermost. */
  private opened: Bytes | null = null;
  private closed: Bytes | null = null;

  /** @param isEscaped true if `text` is plain text, false if it is HTML. */
  constructor(text: Text, isEscaped: bool) {
    this.text = text;
    this.isEscaped = isEscaped;
  }

  static words(text: Text): Piece {
    return new Piece(text, true);
  }

  static tag(html: string): Piece {
    return new Piece(Text.of(html), false);
  }

  static delimiter(run: Text, canOpen: bool, canClose: bool): Piece {
    const piece = new Piece(run, true);
    piece.count = run.length;
    piece.canOpen = canOpen;
    piece.canClose = canClose;
    return piece;
  }

  /** @param signs 1 for emphasis, 2 for strong. */
  open(signs: i32): void {
    if (this.opened === null) this.opened = new Bytes(4);
    this.opened!.put(signs);
    this.count -= signs;
  }

  close(signs: i32): void {
    if (this.closed === null) this.closed = new Bytes(4);
    this.closed!.put(signs);
    this.count -= signs;
  }

  get isDelimiter(): bool {
    return this.canOpen || this.canClose;
  }

  putHtml(html: Bytes): void {
    const closed = this.closed;
    const opened = this.opened;
    if (closed !== null) for (let at = 0; at < closed.length; at++) html.putString(tagOf(closed.text().at(at), "</"));
    if (this.isDelimiter) html.putPart(this.text, 0, this.count);
    else if (this.isEscaped) putEscaped(html, this.text);
    else html.putText(this.text);
    if (opened !== null)
      for (let at = opened.length - 1; at >= 0; at--) html.putString(tagOf(opened.text().at(at), "<"));
  }

  /** The text without tags. */
  putWords(words: Bytes): void {
    if (this.isDelimiter) words.putPart(this.text, 0, this.count);
    else words.putText(this.isEscaped ? this.text : this.alt);
  }
}

function tagOf(signs: u32, bracket: string): string {
  return bracket + (signs == STRONG ? "strong>" : "em>");
}
