/** What a WebSocket tells its session. */
export interface SocketEvents {
  /** One whole frame. Not called while the socket is paused, but for frames that were read already. */
  onMessage(data: Buffer, isBinary: boolean): void;
  /** Bytes came in, after the frames that they complete. Not every transport can tell. */
  onRead(bytes: number): void;
  onPing(): void;
  onPong(): void;
  onError(error: Error): void;
  onClose(code: number): void;
}

/** A WebSocket as a session sees it. Each transport of the API has an adapter. */
export interface SessionSocket {
  readonly isOpen: boolean;
  /** What was sent and waits for the other side to read. */
  readonly bufferedBytes: number;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  /** Tells `events` from now on. Called in the turn in which the socket opened. */
  attach(events: SocketEvents): void;
  /** Sends a binary frame, in one write with what else is sent until then (see `gatherWrites`). */
  send(frame: Uint8Array, until: "microtask" | "tick"): void;
  ping(): void;
  /** Reads no further, so that the other side has to wait. */
  pause(): void;
  resume(): void;
  /** Begins the closing handshake. `reason`: at most 123 bytes. */
  close(code: number, reason: string): void;
  /** Cuts the connection. */
  terminate(): void;
}

/** An upgrade that is let in. The transport then makes the handshake. */
export interface AcceptedUpgrade {
  /** For the answer to the handshake. */
  readonly headers: Readonly<Record<string, string>>;
  /** The subprotocol to agree on; undefined for none. */
  chooseProtocol(offered: readonly string[]): string | undefined;
  open(socket: SessionSocket, protocol: string | undefined): void;
  /** The connection is gone, whether the socket ever opened or not. May be called more than once. */
  release(): void;
}
