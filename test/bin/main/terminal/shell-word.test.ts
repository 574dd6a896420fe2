import { expect, it } from "vitest";
import { shellWord } from "../../../../bin/main/terminal/shell-word.ts";

it.each([
  ["/home/ann/atoll/atoll.toml", "/home/ann/atoll/atoll.toml"],
  ["my atoll", "'my atoll'"],
  ["ann's", String.raw`'ann'\''s'`],
  ["$(reboot)", "'$(reboot)'"],
  ["", "''"],
])("shellWord(%j) returns %s", (text, word) => {
  expect(shellWord(text)).toBe(word);
});
