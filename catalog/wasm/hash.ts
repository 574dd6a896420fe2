import { crc32, fnv1a64 } from "./lib/checksum";
import { readBytes } from "./lib/encoded-bytes";
import { fail } from "./lib/fail";
import { integerToHex, toHex } from "./lib/hex";
import { JobInput, JobOutput, textOf } from "./lib/job";
import { sha1, sha256 } from "./lib/sha";
import { Text } from "./lib/text";

/** Hashes and checksums of bytes, in hexadecimal. */
const input = new JobInput();
const bytes = readBytes(input);
const output = new JobOutput();
output.json.nameInteger("bytes", bytes.length);
output.json.name(Text.of("hashes"));
output.json.beginObject();
if (!input.has("algorithms")) output.json.nameText("sha256", hash(bytes, Text.of("sha256")));
else {
  const algorithms = input.list("algorithms");
  if (algorithms.length > 5) fail<bool>('"algorithms" must be at most 5');
  for (let at = 0; at < algorithms.length; at++) {
    const algorithm = textOf(algorithms[at], "algorithms");
    for (let other = 0; other < at; other++)
      if (algorithms[other].text.equals(algorithm)) fail<bool>('"algorithms" names one twice');
    output.json.name(algorithm);
    output.json.text(hash(bytes, algorithm));
  }
}
output.json.endObject();
output.send();

function hash(bytes: Text, algorithm: Text): Text {
  if (algorithm.is("sha256")) return toHex(sha256(bytes));
  if (algorithm.is("sha1")) return toHex(sha1(bytes));
  if (algorithm.is("crc32")) return integerToHex(crc32(bytes), 8);
  if (algorithm.is("fnv1a32")) return integerToHex(bytes.hash(), 8);
  if (algorithm.is("fnv1a64")) return integerToHex(fnv1a64(bytes), 16);
  return fail<Text>('"algorithms" may name sha256, sha1, crc32, fnv1a32 and fnv1a64');
}
