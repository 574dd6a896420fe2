/** What a host process needs to load one module. */
export interface LoadRequest {
  readonly modulePath: string;
  /** Size that the module's memory may grow to in one job. */
  readonly memoryCapBytes: number;
  /** Arguments after the program's name. */
  readonly args: readonly string[];
}

/** The client's input, as one line of JSON. */
export type WasmJob = string;
