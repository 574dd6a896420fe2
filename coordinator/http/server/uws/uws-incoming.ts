import { EventEmitter } from "node:events";
import { GatheredBytes } from "../../../../shared/async/gathered-bytes.ts";
import type { UwsRequest, UwsResponse } from "./load-uws.ts";

/** Headers of which only the first counts if a request has several, as in node:http. */
const SINGLE = new Set(["authorization", "content-length", "content-type", "host", "user-agent", "if-modified-since"]);
/** Unread body bytes above which the connection is paused. */
const MAX_UNREAD_BYTES = 65_536;

/** The members of a request's socket that the API uses. */
interface UwsPeer {
  readonly remoteAddress: string | undefined;
  destroySoon(): void;
  readonly destroyed: boolean;
}

/** A request with the members of Node's IncomingMessage that the API uses. */
export class UwsIncoming extends EventEmitter {
  readonly httpVersion = "1.1";
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string> = Object.create(null) as Record<string, string>;
  readonly rawHeaders: string[] = [];
  readonly socket: UwsPeer;
  /** Whether two Content-Length headers differ, so that the end of the request is unknown (RFC 9112 §6.3). */
  hasTwoLengths = false;
  destroyed = false;
  errored: Error | null = null;
  complete: boolean;
  readableEnded = false;
  readableDidRead = false;
  readonly #response: UwsResponse;
  #unread = new GatheredBytes();
  #isFlowing = false;
  #isPaused = false;
  /** Called when the whole body has arrived; set once the body is discarded. */
  #onComplete: (() => void) | null = null;

  constructor(request: UwsRequest, response: UwsResponse, socket: UwsPeer) {
    super();
    const query = request.getQuery();
    const path = request.getUrl();
    this.method = request.getCaseSensitiveMethod();
    this.url = query === undefined || query === "" ? path : `${path}?${query}`;
    this.socket = socket;
    this.#response = response;
    const { headers, rawHeaders } = this;
    request.forEach((name, value) => {
      rawHeaders.push(name, value);
      const before = headers[name];
      if (before === undefined) headers[name] = value;
      else if (name === "content-length" && before !== value) this.hasTwoLengths = true;
      else if (!SINGLE.has(name)) headers[name] = `${before}${name === "cookie" ? "; " : ", "}${value}`;
    });
    const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
    this.complete = !hasBody;
    this.readableEnded = !hasBody;
    if (hasBody) response.onData((chunk, isLast) => this.#receive(chunk, isLast));
  }

  override on(event: string, listener: (...args: never[]) => void): this {
    super.on(event, listener as (...args: unknown[]) => void);
    if (event === "data") this.resume();
    // A request without a body has ended before a listener could be added.
    if (event === "end" && this.readableEnded) process.nextTick(() => this.emit("end"));
    return this;
  }

  /** Whether reading is paused. The library does not limit the time of a paused connection. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  get readableLength(): number {
    return this.#unread.length;
  }

  /** Returns all unread bytes; null if there are none. */
  read(): Buffer | null {
    if (this.readableLength === 0) return null;
    const { bytes } = this.#unread;
    this.#unread = new GatheredBytes();
    this.readableDidRead = true;
    return bytes;
  }

  pause(): this {
    this.#isFlowing = false;
    return this;
  }

  resume(): this {
    this.#isFlowing = true;
    process.nextTick(() => this.#flow());
    return this;
  }

  /** Drops unread and later bytes. `then` is called when the whole body has arrived. */
  discard(then: () => void): void {
    this.#onComplete = then;
    this.#isFlowing = false;
    this.#unread = new GatheredBytes();
    this.#resumeReading();
  }

  close(error: Error | null): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.errored = this.complete ? null : error;
    if (this.errored !== null && this.listenerCount("error") > 0) this.emit("error", this.errored);
    this.emit("close");
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.destroyed) return;
    if (isLast) this.complete = true;
    if (this.#onComplete !== null) {
      if (isLast) this.#onComplete();
      return;
    }
    // The chunk is copied: the library reuses its memory.
    if (chunk.byteLength > 0) this.#unread.add(Buffer.from(new Uint8Array(chunk)));
    if (this.#isFlowing) this.#flow();
    else if (!isLast && this.readableLength > MAX_UNREAD_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#response.pause();
    }
  }

  #flow(): void {
    if (!this.#isFlowing || this.destroyed || this.readableEnded || this.#onComplete !== null) return;
    const chunk = this.read();
    if (chunk !== null) this.emit("data", chunk);
    // A listener may have paused the request.
    if (!this.#isFlowing || this.destroyed) return;
    this.#resumeReading();
    if (this.complete && !this.readableEnded) {
      this.readableEnded = true;
      this.emit("end");
    }
  }

  #resumeReading(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#response.resume();
  }
}
