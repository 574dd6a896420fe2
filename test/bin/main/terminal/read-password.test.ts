import { afterEach, expect, it, vi } from "vitest";
import { askNewPassword } from "../../../../bin/main/terminal/read-password.ts";

afterEach(() => vi.restoreAllMocks());

it("askNewPassword() asks for both again while they differ", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const answers = ["correct horse", "correct hose", "battery staple", "battery", "right at last", "right at last"];
  expect(await askNewPassword(async () => answers.shift() ?? "")).toBe("right at last");
  expect([answers, told.mock.calls.length]).toEqual([[], 2]);
});
