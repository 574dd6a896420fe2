import { readFileSync, writeFileSync } from "node:fs";

/*
 * The binaries of `uwebsockets` require glibc 2.38 for three functions, such as `__isoc23_strtol`, which newer C compilers emit for
 * `strtol`. Debian 12 has glibc 2.36. This file restores the old names, and marks the requirement of 2.38 as weak, so that the loader
 * ignores it.
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

/** Changes a 64-bit little-endian ELF library in place. No-op if the library does not require glibc 2.38. */
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
  if (strings === undefined) throw new Error(`${path}: no symbol names`);
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

/**
 * Returns the glibc versions that the library requires, each with the offset of its entry, its index for symbols, and
 * its name.
 */
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
