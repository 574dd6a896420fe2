import { fail } from "./lib/fail";
import { fromHex, toHex } from "./lib/hex";
import { Bytes } from "./lib/bytes";
import { JobInput, JobOutput, textOf } from "./lib/job";
import { sha1 } from "./lib/sha";
import { Text } from "./lib/text";

const MAX_NAMES = 10_000;

/** Version 5 UUIDs (RFC 9562, section 5.5) of names in a namespace: equal names get equal UUIDs. */
const input = new JobInput();
const namespace = namespaceOf(input.textOr("namespace", "url"));
const names = input.list("names");
if (names.length > MAX_NAMES) fail<bool>(`"names" must be at most ${MAX_NAMES}`);
const output = new JobOutput();
output.json.nameList("uuids");
for (let at = 0; at < names.length; at++) output.json.text(uuidOf(textOf(names[at], "names")));
output.json.endList();
output.send();

/** A namespace named in RFC 9562, appendix A, or a UUID in text form. */
function namespaceOf(namespace: Text): Text {
  let uuid = namespace;
  if (namespace.is("dns")) uuid = Text.of("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  else if (namespace.is("url")) uuid = Text.of("6ba7b811-9dad-11d1-80b4-00c04fd430c8");
  else if (namespace.is("oid")) uuid = Text.of("6ba7b812-9dad-11d1-80b4-00c04fd430c8");
  else if (namespace.is("x500")) uuid = Text.of("6ba7b814-9dad-11d1-80b4-00c04fd430c8");
  const digits = new Bytes();
  for (let at = 0; at < uuid.length; at++) {
    const isDash = at == 8 || at == 13 || at == 18 || at == 23;
    if (isDash != (uuid.at(at) == 0x2d)) break;
    if (!isDash) digits.put(uuid.at(at));
  }
  if (uuid.length != 36 || digits.length != 32) fail<bool>('"namespace" must be "dns", "url", "oid", "x500" or a UUID');
  return fromHex(digits.text(), '"namespace"');
}

function uuidOf(name: Text): Text {
  const message = new Bytes(16 + name.length);
  message.putText(namespace);
  message.putText(name);
  const digest = sha1(message.text());
  store<u8>(digest.ptr, (digest.at(6) & 0x0f) | 0x50, 6);
  store<u8>(digest.ptr, (digest.at(8) & 0x3f) | 0x80, 8);
  const hex = toHex(digest.slice(0, 16));
  const uuid = new Bytes(36);
  for (let at = 0; at < 32; at++) {
    if (at == 8 || at == 12 || at == 16 || at == 20) uuid.put(0x2d);
    uuid.put(hex.at(at));
  }
  return uuid.text();
}
