/** Host process to guest thread: one job. */
export interface GuestRequest {
  readonly module: WebAssembly.Module;
  readonly args: readonly string[];
  readonly stdin: Uint8Array;
  /** One shared number: messages that the host has not read yet. The guest waits while there are too many. */
  readonly inFlight: Int32Array<SharedArrayBuffer>;
}

/** Guest thread to host process; `ended` is the last message. */
export type FromGuest =
  /** `fd` 1 is standard output, 2 standard error. */
  | { readonly kind: "wrote"; readonly fd: 1 | 2; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "ended"; readonly end: GuestEnd; readonly memory: GuestMemory };

/** Size of the guest's memory at the start and at the end. */
export interface GuestMemory {
  readonly firstBytes: number;
  readonly lastBytes: number;
}

export type GuestEnd =
  | { readonly kind: "exit"; readonly code: number }
  /** A WebAssembly trap, such as a division by zero. */
  | { readonly kind: "trap"; readonly message: string }
  /** It could not be started. */
  | { readonly kind: "unusable"; readonly message: string };
