import { Bytes } from "./bytes";
import { fd_write, proc_exit } from "./wasi_snapshot_preview1";

/** An address, a length, and the address where the host stores the byte count. */
export const iovec = heap.alloc(12);

/** Writes all of `bytes` to standard output in one call, so that no line is split. Ends the program if the write fails. */
export function write(bytes: Bytes): void {
  let written = 0;
  while (written < bytes.length) {
    store<usize>(iovec, bytes.ptr + written);
    store<i32>(iovec, bytes.length - written, 4);
    if (fd_write(1, iovec, 1, iovec + 8) != 0) exit(1);
    written += load<i32>(iovec, 8);
  }
}

export function exit(code: i32): void {
  proc_exit(code);
  unreachable();
}
