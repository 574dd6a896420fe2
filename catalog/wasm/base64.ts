import { fromBase64, toBase64 } from "./lib/base64";
import { readBytes } from "./lib/encoded-bytes";
import { fail } from "./lib/fail";
import { toHex } from "./lib/hex";
import { JobInput, JobOutput } from "./lib/job";
import { Text } from "./lib/text";
import { invalidUtf8 } from "./lib/utf8";

/** Base64, RFC 4648: `encode` takes text or hexadecimal digits, `decode` returns text, or digits with `encoding` hex. */
const input = new JobInput();
const mode = input.textOr("mode", "encode");
if (mode.is("encode")) send(encode());
else if (mode.is("decode")) send(decode());
else fail<bool>('"mode" must be "encode" or "decode"');

function encode(): Text {
  const alphabet = input.textOr("alphabet", "standard");
  const isUrl = alphabet.is("url");
  if (!isUrl && !alphabet.is("standard")) fail<bool>('"alphabet" must be "standard" or "url"');
  return toBase64(readBytes(input), isUrl, input.flag("padding", !isUrl));
}

function decode(): Text {
  const bytes = fromBase64(input.text("data"), '"data"');
  const encoding = input.textOr("encoding", "utf8");
  if (encoding.is("hex")) return toHex(bytes);
  if (!encoding.is("utf8")) fail<bool>('"encoding" must be "utf8" or "hex" when decoding');
  const bad = invalidUtf8(bytes);
  if (bad >= 0)
    fail<bool>(`The decoded bytes are not UTF-8 text (byte ${bad + 1}); ask for them with "encoding": "hex"`);
  return bytes;
}

function send(data: Text): void {
  const output = new JobOutput();
  output.json.nameText("data", data);
  output.send();
}
