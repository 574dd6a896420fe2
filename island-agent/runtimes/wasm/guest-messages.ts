/** One job, sent from the host process to a guest thread. */
export interface GuestRequest {
  readonly module: WebAssembly.Module;
  readonly args: readonly string[];
  readonly stdin: Uint8Array;
  /** Shared number of messages that the host has not read yet. The guest waits while it is too high. */
  readonly inFlight: Int32Array<SharedArrayBuffer>;
}

/** Message from a guest thread to the host process; `ended` is the last message. */
export type FromGuest =
  /** `fd` 1 is standard output, 2 standard error. */
  | { readonly kind: "wrote"; readonly fd: 1 | 2; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "ended"; readonly end: GuestEnd; readonly memory: GuestMemory };

/** Sizes of the guest's memory at the start and at the end. */
export interface GuestMemory {
  readonly firstBytes: number;
  readonly lastBytes: number;
}

export type GuestEnd =
  | { readonly kind: "exit"; readonly code: number }
  /** A WebAssembly trap, such as a division by zero. */
  | { readonly kind: "trap"; readonly message: string }
  /** The module could not be started. */
  | { readonly kind: "unusable"; readonly message: string };
