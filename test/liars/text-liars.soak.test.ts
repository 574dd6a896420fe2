import { expect, it } from "vitest";
import { textLiarProblems, runTextLiars } from "./text-liars.ts";

it("Islands with false texts are quarantined before they earn", async () => {
  const results = await runTextLiars({ seed: 1, chats: 400, honest: 6, trusted: 3 });
  expect(textLiarProblems(results)).toEqual([]);
}, 300_000);
