import { afterEach, expect, it, vi } from "vitest";
import { askNewPassword } from "../../../../bin/main/terminal/read-password.ts";

afterEach(() => vi.restoreAllMocks());

it("askNewPassword() asks for both entries again while they differ", async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const answers = ["correct horse", "correct hose", "battery staple", "battery", "right at last", "right at last"];
  expect(await askNewPassword(async () => answers.shift() ?? "")).toBe("right at last");
  expect([answers, errors.mock.calls.length]).toEqual([[], 2]);
});
