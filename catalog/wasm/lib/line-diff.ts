/** A costlier search stops and splits at the furthest point: the diff is correct, but may not be the shortest. */
const MAX_COST = 512;
const NOWHERE = i32.MAX_VALUE;

/**
 * Finds the lines in which two texts differ: E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), with the refinement for
 * linear space (section 4b): it finds the middle of a shortest path from both ends, then compares both halves.
 * Lines are given as numbers, equal for equal lines.
 */
export class LineDiff {
  /** 1 for each line of the old text that is removed, and of the new text that is added. */
  removed: StaticArray<u8>;
  added: StaticArray<u8>;
  private a: StaticArray<i32>;
  private b: StaticArray<i32>;
  /** Furthest x on each diagonal x - y, from the start and from the end; diagonals are counted from -b.length - 1. */
  private forward: StaticArray<i32>;
  private backward: StaticArray<i32>;
  private offset: i32;
  private middleX: i32 = 0;
  private middleY: i32 = 0;

  constructor(a: StaticArray<i32>, b: StaticArray<i32>) {
    this.a = a;
    this.b = b;
    this.removed = new StaticArray<u8>(a.length);
    this.added = new StaticArray<u8>(b.length);
    this.forward = new StaticArray<i32>(a.length + b.length + 3);
    this.backward = new StaticArray<i32>(a.length + b.length + 3);
    this.offset = b.length + 1;
    this.compare(0, a.length, 0, b.length);
  }

  private compare(fromX: i32, toX: i32, fromY: i32, toY: i32): void {
    while (fromX < toX && fromY < toY && this.a[fromX] == this.b[fromY]) {
      fromX++;
      fromY++;
    }
    while (toX > fromX && toY > fromY && this.a[toX - 1] == this.b[toY - 1]) {
      toX--;
      toY--;
    }
    if (fromX == toX) for (let y = fromY; y < toY; y++) this.added[y] = 1;
    else if (fromY == toY) for (let x = fromX; x < toX; x++) this.removed[x] = 1;
    else {
      this.findMiddle(fromX, toX, fromY, toY);
      const x = this.middleX;
      const y = this.middleY;
      this.compare(fromX, x, fromY, y);
      this.compare(x, toX, y, toY);
    }
  }

  /** Sets the middle to a point that a shortest path goes through. */
  private findMiddle(fromX: i32, toX: i32, fromY: i32, toY: i32): void {
    const forward = this.forward;
    const backward = this.backward;
    const least = fromX - toY + this.offset;
    const most = toX - fromY + this.offset;
    const start = fromX - fromY + this.offset;
    const end = toX - toY + this.offset;
    const isOdd = ((start - end) & 1) != 0;
    let firstF = start;
    let lastF = start;
    let firstB = end;
    let lastB = end;
    forward[start] = fromX;
    backward[end] = toX;
    for (let cost = 1; ; cost++) {
      if (firstF > least) forward[--firstF - 1] = -1;
      else firstF++;
      if (lastF < most) forward[++lastF + 1] = -1;
      else lastF--;
      for (let diagonal = lastF; diagonal >= firstF; diagonal -= 2) {
        const x = this.advance(max(forward[diagonal - 1] + 1, forward[diagonal + 1]), diagonal, toX, toY);
        if (isOdd && diagonal >= firstB && diagonal <= lastB && backward[diagonal] <= x) return this.meet(x, diagonal);
      }
      if (firstB > least) backward[--firstB - 1] = NOWHERE;
      else firstB++;
      if (lastB < most) backward[++lastB + 1] = NOWHERE;
      else lastB--;
      for (let diagonal = lastB; diagonal >= firstB; diagonal -= 2) {
        const x = this.retreat(min(backward[diagonal - 1], backward[diagonal + 1] - 1), diagonal, fromX, fromY);
        if (!isOdd && diagonal >= firstF && diagonal <= lastF && x <= forward[diagonal]) return this.meet(x, diagonal);
      }
      if (cost < MAX_COST) continue;
      return this.meetFurthest(firstF, lastF, toX, toY);
    }
  }

  /** Follows a diagonal over equal lines. */
  private advance(from: i32, diagonal: i32, toX: i32, toY: i32): i32 {
    let x = from;
    let y = x - diagonal + this.offset;
    while (x < toX && y < toY && this.a[x] == this.b[y]) {
      x++;
      y++;
    }
    this.forward[diagonal] = x;
    return x;
  }

  private retreat(from: i32, diagonal: i32, fromX: i32, fromY: i32): i32 {
    let x = from;
    let y = x - diagonal + this.offset;
    while (x > fromX && y > fromY && this.a[x - 1] == this.b[y - 1]) {
      x--;
      y--;
    }
    this.backward[diagonal] = x;
    return x;
  }

  private meet(x: i32, diagonal: i32): void {
    this.middleX = x;
    this.middleY = x - diagonal + this.offset;
  }

  /** The furthest point inside the box that the forward search has reached. */
  private meetFurthest(first: i32, last: i32, toX: i32, toY: i32): void {
    let best = -1;
    for (let diagonal = first; diagonal <= last; diagonal += 2) {
      const x = min(min(this.forward[diagonal], toX), toY + diagonal - this.offset);
      const sum = x * 2 - diagonal + this.offset;
      if (sum <= best) continue;
      best = sum;
      this.meet(x, diagonal);
    }
  }
}
