import { Bytes } from "../bytes";
import { Text } from "../text";

/** Escapes text for use between tags and in double-quoted attributes. */
export function putEscaped(html: Bytes, text: Text): void {
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const entity = entityOf(text.at(at));
    if (entity == "") continue;
    html.putPart(text, from, at);
    html.putString(entity);
    from = at + 1;
  }
  html.putPart(text, from, text.length);
}

function entityOf(byte: u32): string {
  if (byte == 0x26) return "&amp;";
  if (byte == 0x3c) return "&lt;";
  if (byte == 0x3e) return "&gt;";
  return byte == 0x22 ? "&quot;" : "";
}
