import { EventEmitter } from "node:events";
import { STATUS_CODES } from "node:http";
import type { UwsResponse } from "./load-uws.ts";
import type { TickFlush } from "./tick-flush.ts";

type HeaderValue = string | number | readonly string[];
type HeadersInit = Readonly<Record<string, HeaderValue | undefined>>;

/** Headers that the library writes itself. */
const WRITTEN_BY_LIBRARY = new Set(["content-length", "transfer-encoding", "date", "connection"]);

/** Response headers with case-insensitive names. */
class ResponseHeaders {
  readonly #values = new Map<string, { readonly name: string; readonly value: string }>();

  set(name: string, value: HeaderValue): void {
    this.#values.set(name.toLowerCase(), { name, value: Array.isArray(value) ? value.join(", ") : String(value) });
  }

  setAll(headers: HeadersInit): void {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.set(name, value);
  }

  get(name: string): string | undefined {
    return this.#values.get(name.toLowerCase())?.value;
  }

  remove(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  writeTo(response: UwsResponse): void {
    for (const [key, { name, value }] of this.#values) {
      if (!WRITTEN_BY_LIBRARY.has(key)) response.writeHeader(name, value);
    }
  }
}

type Written = (error?: Error | null) => void;

interface Piece {
  data: Buffer;
  readonly onWritten: Written | undefined;
}

/** Maximum bytes passed to the library at once. The part that the client does not read is held in memory. */
const MAX_PIECE_BYTES = 65_536;

/** Queue of data to write, in pieces that are passed to the library one by one. */
class UnwrittenPieces {
  #pieces: Piece[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get first(): Piece | undefined {
    return this.#pieces[0];
  }

  /** `onWritten` is called when the last piece is written. */
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

  /** Removes the first piece after it was written. */
  shift(): void {
    const piece = this.#pieces.shift();
    this.#bytes -= piece?.data.length ?? 0;
    piece?.onWritten?.();
  }

  /** Removes the written bytes from the first piece. */
  cut(bytes: number): void {
    const [piece] = this.#pieces;
    if (piece === undefined) return;
    piece.data = piece.data.subarray(bytes);
    this.#bytes -= bytes;
  }

  /** Removes all pieces and returns them as one buffer, with a function to call when it is written or lost. */
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

/**
 * Maximum body that is passed to the library at once: it fits into the system's buffers. A larger one is written as
 * fast as the client reads.
 */
const MAX_WHOLE_BYTES = 16_384;
/** Sent bytes above which a flush may have met full buffers without a report by the library. */
const MAYBE_HELD_BYTES = 65_536;
/** Queued bytes above which `write` returns false, as in node:http. */
const HIGH_WATER_BYTES = 65_536;

/**
 * A response in the shape of Node's ServerResponse, as far as the API uses it: headers, `write`, `end`, `destroy`, and
 * the events drain, finish and close. It writes once per event-loop tick.
 */
export class UwsOutgoing extends EventEmitter {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  /** Whether the library has the whole response. */
  writableFinished = false;
  destroyed = false;
  /** Whether keep-alive ends with this response. */
  isLast = false;
  /** Monotonic time since which the client accepts no data although some waits; null otherwise. */
  blockedSinceMs: number | null = null;
  readonly #headers = new ResponseHeaders();
  readonly #response: UwsResponse;
  readonly #isHead: boolean;
  readonly #ticks: TickFlush;
  readonly #now: () => number;
  readonly #pieces = new UnwrittenPieces();
  #sentBytes = 0;
  /** Content-Length, if the response has one. */
  #totalBytes: number | null = null;
  #isBegun = false;
  #isQueued = false;
  #needsDrain = false;
  /** Whether the library holds the first piece until the client reads it. */
  #isFirstHeld = false;
  /**
   * Called before a complete response is passed to the library. If it returns false, the response waits for {@link
   * resumeEnd}.
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

  /** Whether the library's response object must not be used any more. */
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

  /** Whether the library's own time limit may cut the connection although nothing is wrong. */
  get mayBeHeld(): boolean {
    return this.blockedSinceMs !== null || this.#sentBytes > MAYBE_HELD_BYTES;
  }

  setHeader(name: string, value: string | number | readonly string[]): this {
    this.#headers.set(name, value);
    return this;
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name);
  }

  hasHeader(name: string): boolean {
    return this.#headers.get(name) !== undefined;
  }

  removeHeader(name: string): void {
    this.#headers.remove(name);
  }

  writeHead(status: number, headers?: HeadersInit): this {
    if (this.headersSent) throw new Error("Headers were already sent");
    this.statusCode = status;
    if (headers !== undefined) this.#headers.setAll(headers);
    this.headersSent = true;
    return this;
  }

  /**
   * The library sends headers only with the first bytes of the body. Therefore an event stream begins with a comment,
   * which clients ignore.
   */
  flushHeaders(): void {
    const isEmpty = !this.#isBegun && this.#pieces.first === undefined && !this.writableEnded;
    if (isEmpty && this.#headers.get("content-type")?.startsWith("text/event-stream") === true) this.write(":\n\n");
  }

  write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    const onWritten = rest.find((each) => typeof each === "function") as Written | undefined;
    if (this.destroyed || this.writableEnded) {
      process.nextTick(() => onWritten?.(new Error("The response has ended")));
      return false;
    }
    this.headersSent = true;
    this.#pieces.add(chunk, onWritten);
    this.#queueFlush();
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
    this.#queueFlush();
    return this;
  }

  destroy(_error?: Error): this {
    if (!this.isOver) this.#response.close();
    return this;
  }

  flush(): void {
    this.#isQueued = false;
    if (this.isOver || this.blockedSinceMs !== null) return;
    this.#cork(() => this.#pump());
  }

  /** Continues a response that `mayEnd` held back. */
  resumeEnd(): void {
    this.#queueFlush();
  }

  /** Passes the connection on to `act`, which upgrades it. */
  upgrade(act: () => void): void {
    this.headersSent = true;
    this.writableEnded = true;
    act();
    this.#finish();
  }

  /** Restarts the library's time limit. */
  keepOpen(): void {
    if (this.isOver) return;
    this.#response.pause();
    this.#response.resume();
  }

  #queueFlush(): void {
    if (this.#isQueued || this.destroyed) return;
    this.#isQueued = true;
    this.#ticks.add(this);
  }

  #cork(write: () => void): void {
    this.#response.cork(write);
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
      // Fewer bytes than announced: the client must not take the body as complete.
      if (this.#totalBytes !== null) return void this.destroy();
      // The close argument is omitted: the library would write that header here, into the body.
      this.#response.end();
      this.#finish();
    } else if (this.#needsDrain && this.#pieces.bytes <= HIGH_WATER_BYTES) {
      this.#needsDrain = false;
      this.emit("drain");
    }
  }

  /** Writes a small complete response, or one without a body, in one call. */
  #endsWhole(): boolean {
    if (!this.writableEnded || (this.#pieces.bytes > MAX_WHOLE_BYTES && !this.#isHead)) return false;
    const { body, settle } = this.#pieces.takeAll();
    const hasNoBody = this.statusCode === 204 || this.statusCode === 304;
    const length = Number(this.#headers.get("content-length") ?? body.length);
    this.#writeHeaders();
    if (hasNoBody) this.#endWithoutLength();
    else if (this.#isHead) this.#response.endWithoutBody(length, this.isLast);
    else this.#response.end(body, this.isLast);
    this.#finish();
    settle();
    return true;
  }

  /** Called without arguments, because the library takes an undefined length as a number. */
  #endWithoutLength(): void {
    if (this.isLast) this.#response.writeHeader("Connection", "close");
    this.#response.endWithoutBody();
  }

  #begin(): void {
    this.#response.onWritable(() => {
      this.blockedSinceMs = null;
      // Runs even without pieces: the library writes its own buffer only in a call.
      this.#cork(() => this.#pump());
      return true;
    });
    const length = this.#headers.get("content-length");
    this.#totalBytes = length === undefined ? (this.writableEnded ? this.#pieces.bytes : null) : Number(length);
    this.#writeHeaders();
    // The client then closes the connection.
    if (this.isLast) this.#response.writeHeader("Connection", "close");
    this.#isBegun = true;
  }

  #writeHeaders(): void {
    if (this.#headers.get("connection")?.toLowerCase() === "close") this.isLast = true;
    this.#response.writeStatus(`${this.statusCode} ${STATUS_CODES[this.statusCode] ?? ""}`);
    this.#headers.writeTo(this.#response);
  }

  #writePiece(): void {
    const data = this.#pieces.first?.data;
    if (data === undefined) return;
    if (this.#totalBytes !== null) return this.#writeSized(data, this.#totalBytes);
    if (!this.#isFirstHeld && data.length > 0 && !this.#response.write(data)) {
      // The library keeps what the client does not read.
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

  /** The connection closed before the response was complete. */
  #onAborted(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    const { settle } = this.#pieces.takeAll();
    this.emit("close");
    settle(new Error("The client disconnected"));
  }
}
