import { Bytes } from "./bytes";
import { fail } from "./fail";
import { Text } from "./text";
import { fd_read, fd_write, proc_exit } from "./wasi_snapshot_preview1";

/** Limit of the input line. A job's input is at most 256 KB; the rest allows for unnecessary escapes. */
const MAX_INPUT_BYTES = 512 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NEWLINE: u8 = 0x0a;

/** An address, a length, and the address where the host stores the byte count. */
const iovec = heap.alloc(12);

/** The first line of standard input, without its line end. */
export function readLine(): Text {
  const line = new Bytes();
  while (true) {
    store<usize>(iovec, line.reserve(CHUNK_BYTES));
    store<i32>(iovec, CHUNK_BYTES, 4);
    if (fd_read(0, iovec, 1, iovec + 8) != 0) return fail<Text>("The input cannot be read");
    const count = load<i32>(iovec, 8);
    const end = line.length + count;
    for (let at = line.length; at < end; at++) {
      if (load<u8>(line.ptr + at) != NEWLINE) continue;
      line.length = at;
      return line.text();
    }
    line.length = end;
    if (end > MAX_INPUT_BYTES) return fail<Text>("The input is longer than 512 KB");
    if (count == 0) return line.text();
  }
}

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
