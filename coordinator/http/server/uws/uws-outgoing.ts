import { EventEmitter } from "node:events";
import { STATUS_CODES } from "node:http";
import type { UwsResponse } from "./load-uws.ts";
import type { TickFlush } from "./tick-flush.ts";

type HeaderValue = string | number | readonly string[];

/** Headers that the library writes itself, so that they are not passed to it. */
const WRITTEN_BY_LIBRARY = new Set(["content-length", "transfer-encoding", "date", "connection"]);

type Written = (error?: Error | null) => void;

interface Piece {
  data: Buffer;
  readonly onWritten: Written | undefined;
}

/** Maximum bytes passed to the library in one call. The library holds in memory what the client does not read. */
const MAX_PIECE_BYTES = 65_536;

class UnwrittenPieces {
  #pieces: Piece[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get first(): Piece | undefined {
    return this.#pieces[0];
  }

  add(chunk: string | Uint8Array, onWritten: Written | undefined): void {
    const data =
      typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#bytes += data.length;
    for (let start = 0; start < data.length || start === 0; start += MAX_PIECE_BYTES) {
      const isLast = start + MAX_PIECE_BYTES >= data.length;
      const part = data.subarray(start, start + MAX_PIECE_BYTES);
      this.#pieces.push({ data: part, onWritten: isLast ? onWritten : undefined });
    }
  }

  shift(): void {
    const piece = this.#pieces.shift();
    this.#bytes -= piece?.data.length ?? 0;
    piece?.onWritten?.();
  }

  /** Removes the first bytes of the first piece, which were written. */
  cut(bytes: number): void {
    const [piece] = this.#pieces;
    if (piece === undefined) return;
    piece.data = piece.data.subarray(bytes);
    this.#bytes -= bytes;
  }

  /** Removes all pieces and returns them as one buffer, with a function to call when the buffer is written or lost. */
  takeAll(): { readonly body: Buffer; readonly settle: (error?: Error) => void } {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return {
      body: Buffer.concat(pieces.map(({ data }) => data)),
      settle: (error) => {
        for (const { onWritten } of pieces) onWritten?.(error);
      },
    };
  }
}

/** Maximum body that is passed to the library in one call: it fits into the buffers of the operating system. */
const MAX_WHOLE_BYTES = 16_384;
/** Sent bytes above which the buffers of the operating system may be full without a report by the library. */
const MAYBE_HELD_BYTES = 65_536;
/** Queued bytes above which `write` returns false, as in node:http. */
const HIGH_WATER_BYTES = 65_536;

/** A response with the members of Node's ServerResponse that the API uses. Writes once per event-loop tick. */
export class UwsOutgoing extends EventEmitter {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  /** Whether the whole response was passed to the library. */
  writableFinished = false;
  destroyed = false;
  isLast = false;
  /** Monotonic time since which the client reads none of the waiting data; null while nothing is blocked. */
  blockedSinceMs: number | null = null;
  readonly #headers = new Map<string, { readonly name: string; readonly value: string }>();
  readonly #response: UwsResponse;
  readonly #isHead: boolean;
  readonly #ticks: TickFlush;
  readonly #now: () => number;
  readonly #pieces = new UnwrittenPieces();
  #sentBytes = 0;
  /** Content-Length of the response; null for a response in chunks. */
  #totalBytes: number | null = null;
  #isBegun = false;
  #isQueued = false;
  #needsDrain = false;
  /** Whether the library holds the first piece until the client reads it. */
  #isFirstHeld = false;
  /**
   * Called before a complete response is written. If it returns false, the response waits until {@link queueFlush} is
   * called.
   */
  mayEnd: () => boolean = () => true;

  constructor(response: UwsResponse, method: string, ticks: TickFlush, now: () => number) {
    super();
    this.#response = response;
    this.#isHead = method === "HEAD";
    this.#ticks = ticks;
    this.#now = now;
    response.onAborted(() => this.#onAborted());
  }

  /** Whether `#response` must not be used any more. */
  get isOver(): boolean {
    return this.destroyed || this.writableFinished;
  }

  get writable(): boolean {
    return !this.destroyed && !this.writableEnded;
  }

  get writableNeedDrain(): boolean {
    return this.#needsDrain;
  }

  get writableLength(): number {
    return this.#pieces.bytes;
  }

  /** Whether the time limit of the library may cut a connection that works. */
  get mayBeHeld(): boolean {
    return this.blockedSinceMs !== null || this.#sentBytes > MAYBE_HELD_BYTES;
  }

  setHeader(name: string, value: HeaderValue): this {
    const text = Array.isArray(value) ? value.join(", ") : String(value);
    this.#headers.set(name.toLowerCase(), { name, value: text });
    return this;
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase())?.value;
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  writeHead(status: number, headers: Readonly<Record<string, HeaderValue | undefined>> = {}): this {
    if (this.headersSent) throw new Error("Headers were already sent");
    this.statusCode = status;
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.setHeader(name, value);
    this.headersSent = true;
    return this;
  }

  /** Sends the headers of an event stream, with a comment: the library sends headers only with a body. */
  flushHeaders(): void {
    const isEmpty = !this.#isBegun && this.#pieces.first === undefined && !this.writableEnded;
    if (isEmpty && this.getHeader("content-type")?.startsWith("text/event-stream") === true) this.write(":\n\n");
  }

  write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    const onWritten = rest.find((each) => typeof each === "function") as Written | undefined;
    if (this.destroyed || this.writableEnded) {
      process.nextTick(() => onWritten?.(new Error("The response has ended")));
      return false;
    }
    this.headersSent = true;
    this.#pieces.add(chunk, onWritten);
    this.queueFlush();
    if (this.#pieces.bytes > HIGH_WATER_BYTES) this.#needsDrain = true;
    return !this.#needsDrain;
  }

  end(chunk?: string | Uint8Array | null | (() => void), ...rest: unknown[]): this {
    const onEnd = [chunk, ...rest].find((each) => typeof each === "function") as (() => void) | undefined;
    if (onEnd !== undefined) this.once("finish", onEnd);
    if (this.destroyed || this.writableEnded) return this;
    this.headersSent = true;
    this.writableEnded = true;
    if (typeof chunk === "string" || chunk instanceof Uint8Array) this.#pieces.add(chunk, undefined);
    this.queueFlush();
    return this;
  }

  destroy(_error?: Error): this {
    if (!this.isOver) this.#response.close();
    return this;
  }

  flush(): void {
    this.#isQueued = false;
    if (this.isOver || this.blockedSinceMs !== null) return;
    this.#response.cork(() => this.#pump());
  }

  /** Ends this response and calls `act`, which upgrades the connection. */
  upgrade(act: () => void): void {
    this.headersSent = true;
    this.writableEnded = true;
    act();
    this.#finish();
  }

  /** Restarts the time limit of the library. */
  keepOpen(): void {
    if (this.isOver) return;
    this.#response.pause();
    this.#response.resume();
  }

  /** Schedules a flush for the end of this tick. Also continues a response that `mayEnd` delayed. */
  queueFlush(): void {
    if (this.#isQueued || this.destroyed) return;
    this.#isQueued = true;
    this.#ticks.add(this);
  }

  #pump(): void {
    if (this.isOver) return;
    if (this.writableEnded && !this.mayEnd()) return;
    if (!this.#isBegun && this.#endsWhole()) return;
    if (this.#isHead) return this.#pieces.takeAll().settle();
    if (!this.#isBegun) this.#begin();
    while (this.#pieces.first !== undefined && this.blockedSinceMs === null) this.#writePiece();
    if (this.writableFinished) return;
    if (this.#pieces.first === undefined && this.writableEnded) {
      // The body has fewer bytes than announced, so the client must not take it as complete.
      if (this.#totalBytes !== null) return void this.destroy();
      // The argument that closes the connection is omitted: the library would write its header into the body.
      this.#response.end();
      this.#finish();
    } else if (this.#needsDrain && this.#pieces.bytes <= HIGH_WATER_BYTES) {
      this.#needsDrain = false;
      this.emit("drain");
    }
  }

  /** Writes a small complete response, or one without a body, in one call. Returns false for any other response. */
  #endsWhole(): boolean {
    if (!this.writableEnded || (this.#pieces.bytes > MAX_WHOLE_BYTES && !this.#isHead)) return false;
    const { body, settle } = this.#pieces.takeAll();
    const hasNoBody = this.statusCode === 204 || this.statusCode === 304;
    const length = Number(this.getHeader("content-length") ?? body.length);
    this.#writeHeaders();
    if (hasNoBody) {
      if (this.isLast) this.#response.writeHeader("Connection", "close");
      // The call has no arguments: the library takes an undefined length as a number.
      this.#response.endWithoutBody();
    } else if (this.#isHead) this.#response.endWithoutBody(length, this.isLast);
    else this.#response.end(body, this.isLast);
    this.#finish();
    settle();
    return true;
  }

  #begin(): void {
    this.#response.onWritable(() => {
      this.blockedSinceMs = null;
      // The call is needed even without pieces: the library writes its own buffer only in a call.
      this.#response.cork(() => this.#pump());
      return true;
    });
    const length = this.getHeader("content-length");
    this.#totalBytes = length === undefined ? (this.writableEnded ? this.#pieces.bytes : null) : Number(length);
    this.#writeHeaders();
    // This header makes the client close the connection.
    if (this.isLast) this.#response.writeHeader("Connection", "close");
    this.#isBegun = true;
  }

  #writeHeaders(): void {
    if (this.getHeader("connection")?.toLowerCase() === "close") this.isLast = true;
    this.#response.writeStatus(`${this.statusCode} ${STATUS_CODES[this.statusCode] ?? ""}`);
    for (const [key, { name, value }] of this.#headers) {
      if (!WRITTEN_BY_LIBRARY.has(key)) this.#response.writeHeader(name, value);
    }
  }

  #writePiece(): void {
    const data = this.#pieces.first?.data;
    if (data === undefined) return;
    if (this.#totalBytes !== null) return this.#writeSized(data, this.#totalBytes);
    if (!this.#isFirstHeld && data.length > 0 && !this.#response.write(data)) {
      // The library has taken the piece and holds what the client has not read.
      this.#isFirstHeld = true;
      this.blockedSinceMs = this.#now();
      return;
    }
    this.#isFirstHeld = false;
    this.#sentBytes += data.length;
    this.#pieces.shift();
  }

  #writeSized(data: Buffer, totalBytes: number): void {
    const before = this.#response.getWriteOffset();
    const [isTaken, isDone] = data.length === 0 ? [true, false] : this.#response.tryEnd(data, totalBytes);
    if (isDone) {
      this.writableEnded = true;
      this.#finish();
      return this.#pieces.takeAll().settle();
    }
    if (isTaken) {
      this.#sentBytes += data.length;
      return this.#pieces.shift();
    }
    this.blockedSinceMs = this.#now();
    const taken = this.#response.getWriteOffset() - before;
    this.#pieces.cut(taken);
    this.#sentBytes += taken;
  }

  #finish(): void {
    this.writableFinished = true;
    this.blockedSinceMs = null;
    process.nextTick(() => {
      this.emit("finish");
      this.emit("close");
    });
  }

  #onAborted(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    const { settle } = this.#pieces.takeAll();
    this.emit("close");
    settle(new Error("The client disconnected"));
  }
}
