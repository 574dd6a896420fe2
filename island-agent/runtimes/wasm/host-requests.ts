/** What a host process needs to bring one module into memory. */
export interface LoadOrder {
  readonly modulePath: string;
  /** Most that the module's memory may grow to in one job. */
  readonly memoryCapBytes: number;
  /** What follows the program's name. */
  readonly args: readonly string[];
}

/** The client's input, as one line of JSON. */
export type WasmJob = string;
