export interface SocketEvents {
  /** Receives a whole frame. While the socket is paused, it is only called for frames that were already read. */
  onMessage(data: Buffer, isBinary: boolean): void;
  /** Called after bytes were read and their complete frames were delivered. Some transports never call this. */
  onRead(bytes: number): void;
  onPing(): void;
  onPong(): void;
  onError(error: Error): void;
  onClose(code: number): void;
}

/** A WebSocket, with an adapter for each transport of the API. */
export interface SessionSocket {
  readonly isOpen: boolean;
  /** Bytes sent and not yet read by the other side. */
  readonly bufferedBytes: number;
  readonly closed: Promise<void>;
  /** Delivers all events to `events` from now on. Must be called in the tick in which the socket opened. */
  attach(events: SocketEvents): void;
  /** Sends a binary frame, in one write with all data sent before `until` (see `gatherWrites`). */
  send(frame: Uint8Array, until: "microtask" | "tick"): void;
  ping(): void;
  /** Stops reading, so that the other side must wait. */
  pause(): void;
  resume(): void;
  /** Starts the closing handshake. `reason` has at most 123 bytes. */
  close(code: number, reason: string): void;
  /** Drops the connection. */
  terminate(): void;
}

/** An upgrade for which the transport then performs the handshake. */
export interface AcceptedUpgrade {
  /** Headers of the handshake response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the agreed subprotocol; undefined for none. */
  chooseProtocol(offered: readonly string[]): string | undefined;
  open(socket: SessionSocket, protocol: string | undefined): void;
  /** Called when the connection has ended, even if the socket never opened. May be called more than once. */
  release(): void;
}
