import { Text } from "./text";

/** CRC-32 of ISO 3309, as in gzip, PNG and zip: reflected, polynomial 0x04C11DB7. */
export function crc32(message: Text): u32 {
  const table = new StaticArray<u32>(256);
  for (let byte = 0; byte < 256; byte++) {
    let entry = byte as u32;
    for (let bit = 0; bit < 8; bit++) entry = (entry >> 1) ^ (entry & 1 ? 0xedb88320 : 0);
    table[byte] = entry;
  }
  let crc: u32 = 0xffffffff;
  for (let at = 0; at < message.length; at++) crc = table[(crc ^ message.at(at)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

/** FNV-1a with 64 bits. `Text.hash` is the 32-bit version. */
export function fnv1a64(message: Text): u64 {
  let hash: u64 = 0xcbf29ce484222325;
  for (let at = 0; at < message.length; at++) hash = (hash ^ message.at(at)) * 0x100000001b3;
  return hash;
}
