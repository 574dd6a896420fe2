import { once } from "node:events";
import { connect, type Socket } from "node:net";

const LINE_END = "\r\n";

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

/** Returns the bytes of a request. */
export function requestBytes(
  url: string,
  request: {
    method: string;
    base?: string;
    path: string;
    key: string;
    headers?: Readonly<Record<string, string>>;
    body?: unknown;
  },
): Buffer {
  const { method, base = "/api/v1", path, key, headers = {}, body } = request;
  const json = body === undefined ? "" : JSON.stringify(body);
  const fields = [
    `${method} ${base}${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${key}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(json)}`]),
  ];
  return Buffer.from(`${fields.join("\r\n")}\r\n\r\n${json}`);
}

/**
 * A keep-alive connection with one request at a time. Supports just enough of HTTP/1.1 for a server under test, because Node.js's clients
 * use more CPU than a server. Bodies are read as Latin-1, since the load is ASCII.
 */
export class HttpConnection {
  readonly #url: URL;
  #socket: Socket | null = null;
  #rest = "";
  /** Offset up to which `#rest` is read. */
  #at = 0;
  #status = 0;
  /**
   * Number of bytes of the body or chunk that are still missing; null before the head is read, -1 before the size of a
   * chunk is read.
   */
  #missing: number | null = null;
  #isChunked = false;
  #body = "";
  #piece = "";
  #onBody: ((text: string) => void) | undefined;
  /** Request that waits for its response. */
  #request: Buffer = Buffer.alloc(0);
  /** Whether the connection has had a response. The server may then close it, while the next request is sent. */
  #isUsed = false;
  #resolve: ((response: HttpResponse) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Connects if necessary. `request` calls it. */
  async open(): Promise<Socket> {
    return this.#socket ?? (await this.#connect());
  }

  /** Sends a request. `onBody` gets each piece of the body as it arrives. */
  async request(bytes: Buffer, onBody?: (text: string) => void): Promise<HttpResponse> {
    const socket = await this.open();
    return new Promise((resolve, reject) => {
      [this.#resolve, this.#reject, this.#onBody] = [resolve, reject, onBody];
      [this.#missing, this.#body, this.#request] = [null, "", bytes];
      socket.write(bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  async #connect(): Promise<Socket> {
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    socket.on("error", (error) => this.#lost(error));
    socket.on("close", () => this.#lost(new Error("the server closed the connection")));
    await once(socket, "connect");
    socket.setEncoding("latin1");
    socket.on("data", (text: unknown) => this.#read(text as string));
    [this.#rest, this.#at, this.#isUsed] = ["", 0, false];
    this.#socket = socket;
    return socket;
  }

  #lost(error: Error): void {
    this.#socket = null;
    const isUnread = this.#resolve !== undefined && this.#missing === null && this.#at === this.#rest.length;
    if (this.#isUsed && isUnread) {
      this.#connect().then(
        (socket) => socket.write(this.#request),
        (cause: unknown) => this.#reject?.(cause as Error),
      );
      return;
    }
    this.#reject?.(error);
    this.#reject = undefined;
  }

  #read(text: string): void {
    this.#rest = this.#at === this.#rest.length ? text : this.#rest.slice(this.#at) + text;
    this.#at = 0;
    while (this.#step());
    this.#deliver();
  }

  /** Reads the next part of the response. Returns false if more bytes are needed. */
  #step(): boolean {
    if (this.#resolve === undefined) return false;
    if (this.#missing === null) return this.#readHead();
    if (this.#missing === -1) return this.#readChunkSize();
    const taken = this.#rest.slice(this.#at, this.#at + this.#missing);
    this.#piece += taken;
    this.#missing -= taken.length;
    this.#at += taken.length;
    if (this.#missing > 0) return false;
    if (!this.#isChunked) return this.#end();
    if (this.#rest.length < this.#at + LINE_END.length) return false;
    this.#at += LINE_END.length;
    this.#missing = -1;
    return true;
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf(LINE_END + LINE_END, this.#at);
    if (end < 0) return false;
    const head = this.#rest.slice(this.#at, end);
    this.#at = end + 2 * LINE_END.length;
    this.#status = Number(head.slice(9, 12));
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#missing = this.#isChunked ? -1 : Number(length ?? 0);
    return this.#missing === 0 ? this.#end() : true;
  }

  #readChunkSize(): boolean {
    const end = this.#rest.indexOf(LINE_END, this.#at);
    if (end < 0) return false;
    const size = Number.parseInt(this.#rest.slice(this.#at, end), 16);
    if (Number.isNaN(size)) {
      this.#lost(new Error(`no chunk size: ${this.#rest.slice(this.#at, end)}`));
      return false;
    }
    if (size === 0) {
      if (this.#rest.length < end + 2 * LINE_END.length) return false;
      this.#at = end + 2 * LINE_END.length;
      return this.#end();
    }
    this.#at = end + LINE_END.length;
    this.#missing = size;
    return true;
  }

  /** Calls `onBody` once for all chunks of a read. */
  #deliver(): void {
    const piece = this.#piece;
    if (piece === "") return;
    this.#piece = "";
    this.#body += piece;
    this.#onBody?.(piece);
  }

  #end(): boolean {
    this.#deliver();
    const resolve = this.#resolve;
    this.#isUsed = true;
    [this.#resolve, this.#reject, this.#missing] = [undefined, undefined, null];
    resolve?.({ status: this.#status, body: this.#body });
    return false;
  }
}
