import { fail } from "./fail";
import { JobInput } from "./job";

/** The input's `delimiter`: one ASCII character, not a quote or a line end. Default: a comma. */
export function readDelimiter(input: JobInput): u32 {
  const delimiter = input.textOr("delimiter", ",");
  const byte = delimiter.at(0);
  if (delimiter.length != 1 || byte == 0x22 || (byte < 0x20 && byte != 0x09))
    fail<bool>('"delimiter" must be one ASCII character and no quote or line end');
  return byte;
}
