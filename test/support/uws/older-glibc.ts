import { readFileSync, writeFileSync } from "node:fs";

/*
 * The binaries of `uwebsockets` are linked against glibc 2.38 and ask for it because of three functions: a C compiler of that age
 * writes `__isoc23_strtol` for `strtol`. Debian 12 has 2.36. This rewrites the three names to those that every glibc has, and
 * makes the demand for 2.38 a weak one, which the loader does not insist on.
 */

const SECTION = { strtab: 3, dynsym: 11, versym: 0x6fffffff, verneed: 0x6ffffffe } as const;
const SYMBOL_BYTES = 24;
const PREFIX = "__isoc23_";
const TOO_NEW = "GLIBC_2.38";
const OLDEST = "GLIBC_2.2.5";
/** `VER_FLG_WEAK` of elf.h. */
const WEAK = 2;

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
}

/** Changes a 64-bit little-endian ELF library in place. Does nothing to one that is content with an older glibc. */
export function allowOlderGlibc(path: string): void {
  const elf = readFileSync(path);
  const sections = readSections(elf);
  const find = (type: number): Section => {
    const found = sections.find((section) => section.type === type);
    if (found === undefined) throw new Error(`${path}: no section of type ${type}`);
    return found;
  };
  const symbols = find(SECTION.dynsym);
  const strings = sections[symbols.link];
  if (strings === undefined) throw new Error(`${path}: no names of symbols`);
  const textAt = (at: number): string => {
    const begin = strings.offset + at;
    return elf.toString("latin1", begin, elf.indexOf(0, begin));
  };
  const versions = readVersions(elf, find(SECTION.verneed), textAt);
  const oldest = versions.find(({ name }) => name === OLDEST);
  for (const { at, name } of versions) if (name === TOO_NEW) elf.writeUInt16LE(WEAK, at + 4);
  for (let index = 0; index < symbols.size / SYMBOL_BYTES; index += 1) {
    const at = symbols.offset + index * SYMBOL_BYTES;
    const name = elf.readUInt32LE(at);
    if (!textAt(name).startsWith(PREFIX) || oldest === undefined) continue;
    elf.writeUInt32LE(name + PREFIX.length, at);
    elf.writeUInt16LE(oldest.index, find(SECTION.versym).offset + index * 2);
  }
  writeFileSync(path, elf);
}

function readSections(elf: Buffer): Section[] {
  const start = Number(elf.readBigUInt64LE(0x28));
  const [entryBytes, count] = [elf.readUInt16LE(0x3a), elf.readUInt16LE(0x3c)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * entryBytes;
    return {
      type: elf.readUInt32LE(at + 4),
      offset: Number(elf.readBigUInt64LE(at + 24)),
      size: Number(elf.readBigUInt64LE(at + 32)),
      link: elf.readUInt32LE(at + 40),
    };
  });
}

/** The versions of glibc that the library asks for: where the entry is, its index for symbols, its name. */
function readVersions(elf: Buffer, section: Section, textAt: (at: number) => string) {
  const versions: { readonly at: number; readonly index: number; readonly name: string }[] = [];
  for (let file = section.offset, isLast = false; !isLast; file += elf.readUInt32LE(file + 12)) {
    let at = file + elf.readUInt32LE(file + 8);
    for (let left = elf.readUInt16LE(file + 2); left > 0; left -= 1) {
      versions.push({ at, index: elf.readUInt16LE(at + 6), name: textAt(elf.readUInt32LE(at + 8)) });
      at += elf.readUInt32LE(at + 12);
    }
    isLast = elf.readUInt32LE(file + 12) === 0;
  }
  return versions;
}
