import { createRequire } from "node:module";
import { ConfigError } from "../../../../shared/settings.ts";

/*
 * What is used of uWebSockets.js. It is no dependency of the program, because it is not in the npm registry; so its types are
 * written down here.
 */

export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  getHeader(lowerCaseName: string): string;
  forEach(visit: (name: string, value: string) => void): void;
}

/** Not to be touched after `onAborted`, `end`, `close` or a successful `tryEnd`: the library throws. */
export interface UwsResponse {
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  /** In chunks. False when an earlier write still waits for the client. */
  write(chunk: Uint8Array | string): boolean;
  /** Takes what the system takes, and tells so by {@link getWriteOffset}. */
  tryEnd(chunk: Uint8Array | string, totalBytes: number): [isTaken: boolean, isDone: boolean];
  getWriteOffset(): number;
  end(body?: Uint8Array | string, closeConnection?: boolean): void;
  endWithoutBody(reportedBytes?: number, closeConnection?: boolean): void;
  cork(write: () => void): void;
  pause(): void;
  resume(): void;
  close(): void;
  onWritable(handler: (offset: number) => boolean): void;
  onAborted(handler: () => void): void;
  /** `chunk` is emptied after the call. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  getRemoteAddress(): ArrayBuffer;
  getRemotePort?(): number;
  upgrade(data: object, key: string, protocol: string, extensions: string, context: unknown): void;
}

/** Not to be touched after it closed. */
export interface UwsWebSocket {
  getUserData(): object;
  send(message: Uint8Array, isBinary: boolean): number;
  getBufferedAmount(): number;
  cork(write: () => void): void;
  ping(): void;
  end(code: number, reason: string): void;
  close(): void;
}

interface UwsBehavior {
  readonly maxPayloadLength: number;
  /** 0: without limit. */
  readonly maxBackpressure: number;
  /** 0: never. */
  readonly idleTimeout: number;
  readonly sendPingsAutomatically: boolean;
  upgrade(response: UwsResponse, request: UwsRequest, context: unknown): void;
  open(socket: UwsWebSocket): void;
  /** `message` is emptied after the call. */
  message(socket: UwsWebSocket, message: ArrayBuffer, isBinary: boolean): void;
  ping(socket: UwsWebSocket): void;
  pong(socket: UwsWebSocket): void;
  close(socket: UwsWebSocket, code: number): void;
}

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): void;
  ws(pattern: string, behavior: UwsBehavior): void;
  listen(host: string, port: number, options: number, done: (listenSocket: object | false) => void): void;
  /** Ends all connections. */
  close(): void;
}

export interface Uws {
  App(): UwsApp;
  us_listen_socket_close(listenSocket: object): void;
  us_socket_local_port(listenSocket: object): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** Where the library reads how large the headers of a request may be; once, when it is loaded. */
const HEADERS_VARIABLE = "UWS_HTTP_MAX_HEADERS_SIZE";
/** As much as node:http takes. */
const MAX_HEADER_BYTES = 16_384;

/**
 * @param name a package that this program can import, or the path of its folder.
 * @throws {ConfigError} that says in one line how to install it.
 */
export function loadUws(name: string): Uws {
  // oxlint-disable-next-line no-restricted-properties -- the library takes this setting from nowhere else.
  process.env[HEADERS_VARIABLE] ??= String(MAX_HEADER_BYTES);
  try {
    return createRequire(import.meta.url)(name) as Uws;
  } catch (cause) {
    const [problem] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new ConfigError(
      [
        `transport = "uws" needs uWebSockets.js, and ${JSON.stringify(name)} cannot be loaded (${problem}). Install it with npm install uNetworking/uWebSockets.js#v20.56.0 and name its folder in uws_module, or use transport = "node"`,
      ],
      { cause },
    );
  }
}
