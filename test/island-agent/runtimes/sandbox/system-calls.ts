/** Builds a program without libraries that makes system calls and prints each 64-bit result. Linux x64 only. */
export interface SystemCall {
  readonly number: number;
  readonly args?: readonly (number | bigint)[];
}

const BASE = 0x400000n;
const HEADER_BYTES = 120;
const WRITE = 1;
const EXIT = 60;
/** Encodes `mov` with a 64-bit number to rdi, rsi, rdx, r10, r8 and r9. */
const MOVE_TO_ARGUMENT = ["48bf", "48be", "48ba", "49ba", "49b8", "49b9"];
const MOVE_TO_RAX = "48b8";
const SYSCALL = "0f05";
/** Encodes `mov r15, …; mov [r15], rax`. */
const MOVE_TO_R15 = "49bf";
const STORE_RAX = "498907";

/** Returns the ELF file. Sources: elf(5), the x86-64 instruction reference. */
export function programOf(calls: readonly SystemCall[]): Buffer {
  // The code has the same length for all addresses.
  const length = codeOf(calls, 0n).length;
  const results = BASE + BigInt(HEADER_BYTES + length);
  const code = codeOf(calls, results);
  const file = Buffer.alloc(HEADER_BYTES + length + calls.length * 8);
  file.write("7f454c46020101", "hex");
  file.writeUInt16LE(2, 16);
  file.writeUInt16LE(62, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BASE + BigInt(HEADER_BYTES), 24);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(64, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(1, 56);
  // One segment holds the whole file, and can be read, written and executed.
  file.writeUInt32LE(1, 64);
  file.writeUInt32LE(7, 68);
  file.writeBigUInt64LE(BASE, 80);
  file.writeBigUInt64LE(BigInt(file.length), 96);
  file.writeBigUInt64LE(BigInt(file.length), 104);
  file.writeBigUInt64LE(0x1000n, 112);
  code.copy(file, HEADER_BYTES);
  return file;
}

function codeOf(calls: readonly SystemCall[], results: bigint): Buffer {
  const stored = calls.map((call, index) => {
    const address = numberBytes(results + BigInt(index) * 8n);
    return Buffer.concat([callCode(call), hex(MOVE_TO_R15), address, hex(STORE_RAX)]);
  });
  const print = callCode({ number: WRITE, args: [1, results, calls.length * 8] });
  return Buffer.concat([...stored, print, callCode({ number: EXIT, args: [0] })]);
}

function callCode({ number, args = [] }: SystemCall): Buffer {
  const loaded = args.map((value, index) => Buffer.concat([hex(MOVE_TO_ARGUMENT[index] ?? ""), numberBytes(value)]));
  return Buffer.concat([...loaded, hex(MOVE_TO_RAX), numberBytes(number), hex(SYSCALL)]);
}

function numberBytes(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
  return bytes;
}

function hex(text: string): Buffer {
  return Buffer.from(text, "hex");
}
