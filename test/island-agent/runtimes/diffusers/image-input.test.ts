import { describe, expect, it } from "vitest";
import { readImageInput } from "../../../../island-agent/runtimes/diffusers/image-input.ts";

describe("readImageInput()", () => {
  it("takes every field of the shipped Cargos", () => {
    const input = {
      prompt: "an island",
      negative_prompt: "",
      width: 768,
      height: 512,
      steps: 30,
      guidance_scale: 0,
      seed: 4_294_967_295,
    };
    expect(readImageInput(input)).toEqual(input);
  });

  it.each([
    [{}, "prompt: "],
    [{ prompt: "" }, "prompt: "],
    [{ prompt: 1 }, "prompt: "],
    [{ prompt: "a", width: 500 }, "width: "],
    [{ prompt: "a", height: 56 }, "height: "],
    [{ prompt: "a", width: 2_056 }, "width: "],
    [{ prompt: "a", width: 2_048, height: 2_048 }, "width: width times height must be at most 2359296"],
    [{ prompt: "a", steps: 0 }, "steps: "],
    [{ prompt: "a", steps: 201 }, "steps: "],
    [{ prompt: "a", guidance_scale: -1 }, "guidance_scale: "],
    [{ prompt: "a", guidance_scale: Infinity }, "guidance_scale: "],
    [{ prompt: "a", seed: 1.5 }, "seed: "],
    [{ prompt: "a", seed: -1 }, "seed: "],
    [{ prompt: "a", seed: 2 ** 53 }, "seed: "],
  ])("refuses %j as invalid_input, naming the field", (input, named) => {
    expect(() => readImageInput(input)).toThrow(
      expect.objectContaining({ code: "invalid_input", retryable: false, message: expect.stringContaining(named) }),
    );
  });
});
