import { expect, it } from "vitest";
import { askNewPassword } from "../../../../bin/main/terminal/read-password.ts";

it("askNewPassword() asks for both again while they differ", async () => {
  const answers = ["correct horse", "correct hose", "battery staple", "battery", "right at last", "right at last"];
  expect(await askNewPassword(async () => answers.shift() ?? "")).toBe("right at last");
  expect(answers).toEqual([]);
});
