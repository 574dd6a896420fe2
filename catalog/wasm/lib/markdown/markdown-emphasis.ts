import { Piece } from "./markdown-piece";

/** The runs of `*` and `_` that may still become tags: a linked list through the pieces of a text. */
export class Delimiters {
  /** Index of the last run, or -1. */
  last: i32 = -1;
  private pieces: Piece[];

  constructor(pieces: Piece[]) {
    this.pieces = pieces;
  }

  add(place: i32): void {
    this.pieces[place].previous = this.last;
    if (this.last >= 0) this.pieces[this.last].next = place;
    this.last = place;
  }

  /**
   * Turns the runs after `bottom` (-1: all) into tags and removes them from the list. The algorithm of CommonMark, appendix "A
   * parsing strategy"; `floors` avoids repeated searches for an opener that does not exist.
   */
  match(bottom: i32): void {
    const floors = new StaticArray<i32>(12).fill(bottom);
    let closer = this.firstBehind(bottom);
    while (closer >= 0) {
      const piece = this.pieces[closer];
      if (!piece.canClose) {
        closer = piece.next;
        continue;
      }
      const floor = floorOf(piece);
      const opener = this.findOpener(piece, floors[floor]);
      if (opener < 0) {
        floors[floor] = piece.previous;
        if (!piece.canOpen) this.remove(closer);
        closer = piece.next;
        continue;
      }
      const opening = this.pieces[opener];
      const signs = opening.count >= 2 && piece.count >= 2 ? 2 : 1;
      opening.open(signs);
      piece.close(signs);
      opening.next = closer;
      piece.previous = opener;
      if (opening.count == 0) this.remove(opener);
      if (piece.count > 0) continue;
      this.remove(closer);
      closer = piece.next;
    }
    this.last = bottom;
    if (bottom >= 0) this.pieces[bottom].next = -1;
  }

  private firstBehind(bottom: i32): i32 {
    let first = -1;
    for (let at = this.last; at > bottom; at = this.pieces[at].previous) first = at;
    return first;
  }

  /** The nearest run above `floor` that `closer` may close, or -1. */
  private findOpener(closer: Piece, floor: i32): i32 {
    for (let at = closer.previous; at > floor; at = this.pieces[at].previous) {
      const opener = this.pieces[at];
      if (!opener.canOpen || opener.text.at(0) != closer.text.at(0)) continue;
      const isBoth = closer.canOpen || opener.canClose;
      const isOdd = closer.text.length % 3 != 0 && (opener.text.length + closer.text.length) % 3 == 0;
      if (!(isBoth && isOdd)) return at;
    }
    return -1;
  }

  private remove(place: i32): void {
    const piece = this.pieces[place];
    if (piece.previous >= 0) this.pieces[piece.previous].next = piece.next;
    if (piece.next >= 0) this.pieces[piece.next].previous = piece.previous;
    else this.last = piece.previous;
  }
}

/** Index into `floors`: runs with the same value search for the same openers. */
function floorOf(closer: Piece): i32 {
  return (closer.text.at(0) == 0x2a ? 0 : 6) + (closer.canOpen ? 3 : 0) + (closer.text.length % 3);
}
