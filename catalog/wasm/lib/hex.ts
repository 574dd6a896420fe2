import { Bytes } from "./bytes";
import { fail } from "./fail";
import { hexDigit } from "./json-parser";
import { Text } from "./text";

/** Lower-case hexadecimal digits of `bytes`. */
export function toHex(bytes: Text): Text {
  const hex = new Bytes(bytes.length * 2);
  for (let at = 0; at < bytes.length; at++) {
    putDigit(hex, bytes.at(at) >> 4);
    putDigit(hex, bytes.at(at) & 15);
  }
  return hex.text();
}

/** @param digits number of digits, leading zeros included. */
export function integerToHex(value: u64, digits: i32): Text {
  const hex = new Bytes(digits);
  for (let shift = digits * 4 - 4; shift >= 0; shift -= 4) putDigit(hex, ((value >> shift) & 15) as u32);
  return hex.text();
}

/** @param title name of `hex` in the error message. */
export function fromHex(hex: Text, title: string): Text {
  if (hex.length % 2 != 0) fail<bool>(`${title} must have an even number of hexadecimal digits`);
  const bytes = new Bytes(hex.length / 2);
  for (let at = 0; at < hex.length; at += 2) {
    const high = hexDigit(hex.at(at));
    const low = hexDigit(hex.at(at + 1));
    if (high < 0 || low < 0) fail<bool>(`${title} is not hexadecimal near byte ${at + 1}`);
    bytes.put(high * 16 + low);
  }
  return bytes.text();
}

function putDigit(hex: Bytes, digit: u32): void {
  hex.put(digit < 10 ? 0x30 + digit : 0x57 + digit);
}
