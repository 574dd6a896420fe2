import { createCipheriv, createHash } from "node:crypto";

/** Resources that a guest can access. */
interface GuestWorld {
  /** Arguments, starting with the program's name. */
  readonly args: readonly string[];
  /** Complete standard input. */
  readonly stdin: Uint8Array;
  /** Receives standard output (1) and standard error (2), in order. The callee owns the bytes. */
  write(fd: 1 | 2, bytes: Uint8Array<ArrayBuffer>): void;
  memory(): WebAssembly.Memory;
}

/** Error that is thrown through the guest's code to end it. */
export class GuestExit extends Error {
  override readonly name = "GuestExit";
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

type WasiFunction = (...args: never[]) => number | void;

/** Error numbers. Source: WASI preview 1, witx `errno`. */
const ERRNO = { success: 0, badf: 8, inval: 28, nosys: 52, spipe: 70 };
const CHARACTER_DEVICE = 2;
const RIGHTS = { read: 2n, write: 64n };
const FD_STDIN = 0;
/** Step by which each read advances the monotonic clocks. Real time is always 0. */
const CLOCK_STEP_NS = 1_000n;
const MONOTONIC_CLOCKS = new Set([1, 2, 3]);
const EVENT_BYTES = 32;
const SUBSCRIPTION_BYTES = 48;
const RANDOM_BYTES = 65_536;

/**
 * Returns the functions of WASI preview 1 that a program without files, network, environment and clock needs. All
 * others return `nosys`. Source: WASI preview 1 (wasi_snapshot_preview1.witx).
 */
function wasiImports(world: GuestWorld): WebAssembly.ModuleImports {
  let read = 0;
  let nowNs = 0n;
  const view = (): DataView => new DataView(world.memory().buffer);
  const bytesAt = (pointer: number, length: number): Uint8Array =>
    new Uint8Array(world.memory().buffer, pointer >>> 0, length >>> 0);
  // Only the input determines the random bytes, so that another Island gets the same result from the same input.
  const random = createCipheriv("aes-256-ctr", createHash("sha256").update(world.stdin).digest(), Buffer.alloc(16));
  const args = world.args.map((arg) => new TextEncoder().encode(`${arg}\0`));

  function* vectors(pointer: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index += 1) {
      const at = (pointer >>> 0) + index * 8;
      yield bytesAt(view().getUint32(at, true), view().getUint32(at + 4, true));
    }
  }

  const functions: Record<string, WasiFunction> = {
    args_sizes_get(count: number, size: number) {
      view().setUint32(count >>> 0, args.length, true);
      view().setUint32(
        size >>> 0,
        args.reduce((sum, arg) => sum + arg.length, 0),
        true,
      );
      return ERRNO.success;
    },
    args_get(pointers: number, buffer: number) {
      let at = buffer >>> 0;
      for (const [index, arg] of args.entries()) {
        view().setUint32((pointers >>> 0) + index * 4, at, true);
        bytesAt(at, arg.length).set(arg);
        at += arg.length;
      }
      return ERRNO.success;
    },
    environ_sizes_get(count: number, size: number) {
      view().setUint32(count >>> 0, 0, true);
      view().setUint32(size >>> 0, 0, true);
      return ERRNO.success;
    },
    environ_get: () => ERRNO.success,
    clock_res_get(_id: number, pointer: number) {
      view().setBigUint64(pointer >>> 0, CLOCK_STEP_NS, true);
      return ERRNO.success;
    },
    clock_time_get(id: number, _precision: bigint, pointer: number) {
      if (MONOTONIC_CLOCKS.has(id)) nowNs += CLOCK_STEP_NS;
      view().setBigUint64(pointer >>> 0, MONOTONIC_CLOCKS.has(id) ? nowNs : 0n, true);
      return ERRNO.success;
    },
    random_get(pointer: number, length: number) {
      for (let at = 0; at < length >>> 0; at += RANDOM_BYTES) {
        const bytes = bytesAt(pointer + at, Math.min(RANDOM_BYTES, (length >>> 0) - at));
        bytes.set(random.update(new Uint8Array(bytes.length)));
      }
      return ERRNO.success;
    },
    fd_read(fd: number, pointer: number, count: number, result: number) {
      if (fd !== FD_STDIN) return ERRNO.badf;
      let total = 0;
      for (const target of vectors(pointer, count)) {
        const piece = world.stdin.subarray(read, read + target.length);
        target.set(piece);
        read += piece.length;
        total += piece.length;
      }
      view().setUint32(result >>> 0, total, true);
      return ERRNO.success;
    },
    fd_write(fd: number, pointer: number, count: number, result: number) {
      if (fd !== 1 && fd !== 2) return ERRNO.badf;
      let total = 0;
      for (const source of vectors(pointer, count)) {
        if (source.length > 0) world.write(fd, source.slice());
        total += source.length;
      }
      view().setUint32(result >>> 0, total, true);
      return ERRNO.success;
    },
    fd_close: (fd: number) => (fd <= 2 ? ERRNO.success : ERRNO.badf),
    fd_seek: (fd: number) => (fd <= 2 ? ERRNO.spipe : ERRNO.badf),
    fd_tell: (fd: number) => (fd <= 2 ? ERRNO.spipe : ERRNO.badf),
    fd_fdstat_get(fd: number, pointer: number) {
      if (fd > 2) return ERRNO.badf;
      bytesAt(pointer, 24).fill(0);
      view().setUint8(pointer >>> 0, CHARACTER_DEVICE);
      view().setBigUint64((pointer >>> 0) + 8, fd === FD_STDIN ? RIGHTS.read : RIGHTS.write, true);
      return ERRNO.success;
    },
    fd_filestat_get(fd: number, pointer: number) {
      if (fd > 2) return ERRNO.badf;
      bytesAt(pointer, 64).fill(0);
      view().setUint8((pointer >>> 0) + 16, CHARACTER_DEVICE);
      return ERRNO.success;
    },
    fd_prestat_get: () => ERRNO.badf,
    fd_prestat_dir_name: () => ERRNO.badf,
    /** Never waits, because clocks advance only when read and standard input is complete. */
    poll_oneoff(subscriptions: number, events: number, count: number, result: number) {
      if (count === 0) return ERRNO.inval;
      for (let index = 0; index < count; index += 1) {
        const from = (subscriptions >>> 0) + index * SUBSCRIPTION_BYTES;
        const to = (events >>> 0) + index * EVENT_BYTES;
        const userData = view().getBigUint64(from, true);
        const kind = view().getUint8(from + 8);
        bytesAt(to, EVENT_BYTES).fill(0);
        view().setBigUint64(to, userData, true);
        view().setUint8(to + 10, kind);
      }
      view().setUint32(result >>> 0, count, true);
      return ERRNO.success;
    },
    sched_yield: () => ERRNO.success,
    proc_exit(code: number) {
      throw new GuestExit(code);
    },
  };
  return functions;
}

/**
 * Returns the imports of `module`; functions that are not implemented return `nosys`. @throws {TypeError} for imports
 * from other modules
 */
export function importsFor(module: WebAssembly.Module, world: GuestWorld): WebAssembly.Imports {
  const ours = wasiImports(world);
  const wasi = Object.create(null) as WebAssembly.ModuleImports;
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (from !== "wasi_snapshot_preview1" || kind !== "function") {
      throw new TypeError(
        `it imports the ${kind} ${from}.${name}; only functions of wasi_snapshot_preview1 are available`,
      );
    }
    const own = Object.hasOwn(ours, name) ? ours[name] : undefined;
    wasi[name] = own ?? (() => ERRNO.nosys);
  }
  return { wasi_snapshot_preview1: wasi };
}
