import { expect, it } from "vitest";
import { withUsualAliases } from "../../../coordinator/catalog/catalog-sync.ts";

it("withUsualAliases() adds the public product's names after the operator's, which take precedence", () => {
  const added = withUsualAliases(new Map([["gpt", "phi-4"]]), { chat: "tiny-chat" });
  expect([...added]).toEqual([
    ["gpt", "phi-4"],
    ["llm-chat", "tiny-chat"],
    ["sdxl", "stable-diffusion-xl-base-1.0"],
  ]);
  const own = withUsualAliases(new Map([["sdxl", "tiny-picture"]]), { chat: "phi-4" });
  expect(Object.fromEntries(own)).toEqual({ sdxl: "tiny-picture", "llm-chat": "phi-4" });
});
