export interface LoadRequest {
  readonly modulePath: string;
  /** Limit of the module's memory in one job. */
  readonly memoryCapBytes: number;
  /** Arguments after the program's name. */
  readonly args: readonly string[];
}

/** The client's input, as one line of JSON. */
export type WasmJob = string;
