/** Host process to a guest's thread: run once. */
export interface GuestRequest {
  readonly module: WebAssembly.Module;
  readonly args: readonly string[];
  readonly stdin: Uint8Array;
  /** Messages on their way to the host process, one number; the guest waits while there are too many. */
  readonly inFlight: Int32Array<SharedArrayBuffer>;
}

/** A guest's thread to the host process; `ended` is its last word. */
export type FromGuest =
  /** `fd` 1 is standard output, 2 standard error. */
  | { readonly kind: "wrote"; readonly fd: 1 | 2; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "ended"; readonly end: GuestEnd; readonly memory: GuestMemory };

/** Bytes of the guest's memory, at its begin and at its end. */
export interface GuestMemory {
  readonly firstBytes: number;
  readonly lastBytes: number;
}

export type GuestEnd =
  | { readonly kind: "exit"; readonly code: number }
  /** The guest did what WebAssembly forbids, such as a division by zero. */
  | { readonly kind: "trap"; readonly message: string }
  /** It could not be begun. */
  | { readonly kind: "unusable"; readonly message: string };
