import { Bytes } from "../bytes";
import { Text } from "../text";

const HEX = "0123456789ABCDEF";
/** Characters kept besides letters and digits. Others are percent-encoded, as in a browser. */
const PLAIN = "-._~:/?#@!$&'()*+,;=%";

/** Whether an address is allowed in a link: http, https, mailto, or relative. */
export function isSafeAddress(address: Text): bool {
  for (let at = 0; at < address.length; at++) {
    const byte = address.at(at);
    if (byte == 0x2f || byte == 0x3f || byte == 0x23) return true;
    if (byte != 0x3a) continue;
    return isScheme(address, at, "http") || isScheme(address, at, "https") || isScheme(address, at, "mailto");
  }
  return true;
}

function isScheme(address: Text, end: i32, scheme: string): bool {
  if (end != scheme.length) return false;
  for (let at = 0; at < end; at++) if ((address.at(at) | 0x20) != (scheme.charCodeAt(at) as u32)) return false;
  return true;
}

/** Puts an address into a double-quoted attribute. */
export function putAddress(html: Bytes, address: Text): void {
  for (let at = 0; at < address.length; at++) {
    const byte = address.at(at);
    if (byte == 0x26) html.putString("&amp;");
    else if (isPlain(byte)) html.put(byte);
    else {
      html.put(0x25);
      html.put(HEX.charCodeAt(byte >> 4));
      html.put(HEX.charCodeAt(byte & 15));
    }
  }
}

function isPlain(byte: u32): bool {
  if ((byte | 0x20) - 0x61 < 26 || byte - 0x30 < 10) return true;
  return PLAIN.indexOf(String.fromCharCode(byte)) >= 0;
}
