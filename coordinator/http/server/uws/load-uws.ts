import { createRequire } from "node:module";
import { ConfigError } from "../../../../shared/settings.ts";

/** Types of the used part of uWebSockets.js, which is not in the npm registry and therefore not a dependency. */

export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  getHeader(lowerCaseName: string): string;
  forEach(visit: (name: string, value: string) => void): void;
}

/** Response of the library, which throws if it is used after `onAborted`, `end`, `close` or a successful `tryEnd`. */
export interface UwsResponse {
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  /** Writes a chunk in chunked encoding. Returns false if an earlier write still waits for the client. */
  write(chunk: Uint8Array | string): boolean;
  /** Writes as much as the operating system accepts; {@link getWriteOffset} returns the bytes written so far. */
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
  /** Calls `handler` for each part of the body. The library empties `chunk` after the call. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  getRemoteAddress(): ArrayBuffer;
  getRemotePort?(): number;
  upgrade(data: object, key: string, protocol: string, extensions: string, context: unknown): void;
}

/** WebSocket of the library, which throws if it is used after its close. */
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
  /** Maximum unsent bytes of a socket; 0 for no limit. */
  readonly maxBackpressure: number;
  /** Seconds without a frame after which a socket is closed; 0 for no timeout. */
  readonly idleTimeout: number;
  readonly sendPingsAutomatically: boolean;
  upgrade(response: UwsResponse, request: UwsRequest, context: unknown): void;
  open(socket: UwsWebSocket): void;
  /** Called for each message. The library empties `message` after the call. */
  message(socket: UwsWebSocket, message: ArrayBuffer, isBinary: boolean): void;
  ping(socket: UwsWebSocket): void;
  pong(socket: UwsWebSocket): void;
  close(socket: UwsWebSocket, code: number): void;
}

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): void;
  ws(pattern: string, behavior: UwsBehavior): void;
  listen(host: string, port: number, options: number, done: (listenSocket: object | false) => void): void;
  close(): void;
}

export interface Uws {
  App(): UwsApp;
  us_listen_socket_close(listenSocket: object): void;
  us_socket_local_port(listenSocket: object): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** Environment variable for the maximum size of request headers, which the library reads when it is loaded. */
const HEADERS_VARIABLE = "UWS_HTTP_MAX_HEADERS_SIZE";
/** Maximum bytes of request headers, as in node:http. */
const MAX_HEADER_BYTES = 16_384;

/**
 * Loads uWebSockets.js.
 * @param name A package that this program can import, or the path of its folder.
 * @throws {ConfigError} whose message explains how to install the library.
 */
export function loadUws(name: string): Uws {
  // oxlint-disable-next-line no-restricted-properties -- the library reads this setting only from the environment.
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
