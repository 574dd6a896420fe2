import { expect, it } from "vitest";
import { takeSplitCode } from "../../../../bin/main/island/join-command.ts";

const URL = "https://atoll.example";

it.each([
  [[URL, "efgh"], "abcd", { addresses: [URL], code: "abcdefgh" }],
  [["efgh", URL], "abcd", { addresses: [URL], code: "abcdefgh" }],
  [[URL, "efgh"], "abcd-efgh", { addresses: [URL, "efgh"], code: "abcd-efgh" }],
  [[URL, "efgh"], undefined, { addresses: [URL, "efgh"], code: undefined }],
])("takeSplitCode(%j, %j) joins only the second half of a code", (given, code, expected) => {
  expect(takeSplitCode(given, code)).toEqual(expected);
});
