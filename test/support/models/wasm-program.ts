import asc from "assemblyscript/asc";

/** Functions for test programs. They never free memory, because the programs end soon. */
const PRELUDE = `
@external("wasi_snapshot_preview1", "fd_write") declare function fd_write(fd: i32, vectors: usize, count: i32, written: usize): i32;
@external("wasi_snapshot_preview1", "fd_read") declare function fd_read(fd: i32, vectors: usize, count: i32, read: usize): i32;
@external("wasi_snapshot_preview1", "proc_exit") declare function proc_exit(code: i32): void;
function writeTo(fd: i32, text: string): void {
  const bytes = String.UTF8.encode(text);
  const vector = heap.alloc(12);
  store<usize>(vector, changetype<usize>(bytes));
  store<usize>(vector, bytes.byteLength, 4);
  fd_write(fd, vector, 1, vector + 8);
}
function say(text: string): void { writeTo(1, text + "\\n"); }
function complain(text: string): void { writeTo(2, text); }
function exit(code: i32): void { proc_exit(code); }
function input(): string {
  const size = 300000;
  const vector = heap.alloc(12);
  const buffer = heap.alloc(size);
  store<usize>(vector, buffer);
  store<usize>(vector, size, 4);
  fd_read(0, vector, 1, vector + 8);
  return String.UTF8.decodeUnsafe(buffer, load<usize>(vector, 8));
}
`;

const OPTIONS = { runtime: "stub", use: ["abort="], optimizeLevel: 1 };

/** Compiled programs, which the test files of a worker share. Compiling one takes at least 0.1 s. */
const made = new Map<string, Promise<Uint8Array>>();

/** Compiles a WASI command whose `_start` is the AssemblyScript `body`, after the declarations in `outside`. */
export function makeWasmProgram(body: string, outside = "", options: object = {}): Promise<Uint8Array> {
  const source = `${PRELUDE}\n${outside}\nexport function _start(): void {\n${body}\n}\n`;
  const key = JSON.stringify([source, options]);
  const program = made.get(key) ?? compile(source, options);
  made.set(key, program);
  return program;
}

async function compile(source: string, options: object): Promise<Uint8Array> {
  const messages = asc.createMemoryStream();
  const { error, binary } = await asc.compileString(source, {
    ...OPTIONS,
    ...options,
    stderr: messages,
  } as typeof OPTIONS);
  if (error !== null || binary === null) throw new Error(`AssemblyScript: ${messages.toString()}`);
  return binary;
}
