/** The part of the WebAssembly API that is used here. Node's types do not declare it. */
interface Engine {
  readonly Module: {
    new (bytes: Uint8Array): WasmModule;
    imports(module: WasmModule): { module: string; name: string }[];
    exports(module: WasmModule): { name: string }[];
  };
  readonly Instance: new (module: WasmModule, imports: Record<string, object>) => { readonly exports: Command };
}
interface Command {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly _start: () => void;
}
export type WasmModule = object & { readonly __module?: never };

const engine = (globalThis as unknown as { WebAssembly: Engine }).WebAssembly;

export const compileWasm = (bytes: Uint8Array): WasmModule => new engine.Module(bytes);

/** Returns the imports as `module.name`, and the names of the exports. */
export const linksOf = (module: WasmModule): { imports: string[]; exports: string[] } => ({
  imports: engine.Module.imports(module).map((entry) => `${entry.module}.${entry.name}`),
  exports: engine.Module.exports(module).map((entry) => entry.name),
});

/** Unwinds a module that calls `proc_exit`. */
class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

export interface WasiRun {
  readonly stdout: string;
  readonly exitCode: number;
  readonly memoryBytes: number;
}

/**
 * Runs a trusted WASI command in this process. The command may import only stdin, stdout and exit.
 * @param moveBytes maximum of bytes per read or write.
 */
export function runWasi(module: WasmModule, stdin: Uint8Array, moveBytes = Infinity): WasiRun {
  const written: Buffer[] = [];
  let read = 0;
  const buffer = (iovecs: number): Uint8Array => {
    const [address = 0, length = 0] = new Uint32Array(memory.buffer, iovecs, 2);
    return new Uint8Array(memory.buffer, address, Math.min(length, moveBytes));
  };
  const tell = (count: number, address: number): number => {
    new Uint32Array(memory.buffer, address, 1)[0] = count;
    return 0;
  };
  const host = {
    fd_read: (_fd: number, iovecs: number, _count: number, told: number): number => {
      const part = stdin.subarray(read, read + buffer(iovecs).length);
      buffer(iovecs).set(part);
      read += part.length;
      return tell(part.length, told);
    },
    fd_write: (_fd: number, iovecs: number, _count: number, told: number): number => {
      const part = Buffer.from(buffer(iovecs));
      written.push(part);
      return tell(part.length, told);
    },
    proc_exit: (code: number): never => {
      throw new Exit(code);
    },
  };
  const { memory, _start: start } = new engine.Instance(module, { wasi_snapshot_preview1: host }).exports;
  const end = (exitCode: number): WasiRun => ({
    stdout: Buffer.concat(written).toString(),
    exitCode,
    memoryBytes: memory.buffer.byteLength,
  });
  try {
    start();
    return end(0);
  } catch (error) {
    if (error instanceof Exit) return end(error.code);
    throw error;
  }
}
