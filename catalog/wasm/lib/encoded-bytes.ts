import { fromBase64 } from "./base64";
import { fail } from "./fail";
import { fromHex } from "./hex";
import { JobInput } from "./job";
import { Text } from "./text";

/** The bytes of the input's `data`: UTF-8, or decoded by `encoding` ("base64" or "hex"). */
export function readBytes(input: JobInput): Text {
  const data = input.text("data");
  const encoding = input.textOr("encoding", "utf8");
  if (encoding.is("utf8")) return data;
  if (encoding.is("base64")) return fromBase64(data, '"data"');
  if (encoding.is("hex")) return fromHex(data, '"data"');
  return fail<Text>('"encoding" must be "utf8", "base64" or "hex"');
}
