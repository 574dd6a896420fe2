import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { readImageInput } from "../../../../island-agent/runtimes/diffusers/image-input.ts";

interface DrawingCargo {
  readonly slug: string;
  readonly runtime_type: string;
  readonly onnx_task_type: string | null;
  readonly input_schema: { readonly properties: Readonly<Record<string, unknown>> };
  readonly example_input: Readonly<Record<string, unknown>>;
}
const CARGOS = path.resolve(import.meta.dirname, "../../../../catalog/cargos");
const SHIPPED = readdirSync(CARGOS)
  .map((name) => JSON.parse(readFileSync(path.join(CARGOS, name), "utf8")) as DrawingCargo)
  .filter(({ runtime_type: type, onnx_task_type: task }) => type === "diffusers" || task === "text-to-image");
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("readImageInput()", () => {
  it.each(SHIPPED)(
    "accepts the fields in the schema of $slug, which offers images if the pipeline supports them",
    (cargo) => {
      const validate = new Ajv2020({ strict: false }).compile(cargo.input_schema);
      const isText = cargo.slug === "tiny-picture";
      const input = { ...cargo.example_input, image: PNG, strength: 0.5, mask_image: PNG };
      expect(validate(input)).toBe(!isText);
      expect(validate({ ...cargo.example_input, strength: 0.5 })).toBe(false);
      const names = Object.keys(cargo.input_schema.properties);
      const known = Object.keys(
        readImageInput({ ...input, negative_prompt: "", width: 64, height: 64, steps: 1, guidance_scale: 1, seed: 1 }),
      );
      expect(names.filter((name) => !known.includes(name))).toEqual([]);
      expect(known.filter((name) => !names.includes(name))).toEqual(isText ? ["image", "mask_image", "strength"] : []);
    },
  );

  it("accepts every field of the shipped Cargos", () => {
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
    [{ prompt: "a", width: 2_048, height: 2_048 }, "width: width times height must be at most 2359296 pixels"],
    [{ prompt: "a", steps: 0 }, "steps: "],
    [{ prompt: "a", steps: 201 }, "steps: "],
    [{ prompt: "a", guidance_scale: -1 }, "guidance_scale: "],
    [{ prompt: "a", guidance_scale: Infinity }, "guidance_scale: "],
    [{ prompt: "a", seed: 1.5 }, "seed: "],
    [{ prompt: "a", seed: -1 }, "seed: "],
    [{ prompt: "a", seed: 2 ** 53 }, "seed: "],
    [{ prompt: "a", control_image: PNG }, "control_image: ControlNets are not supported"],
  ])("refuses %j as invalid_input, and names the field", (input, named) => {
    expect(() => readImageInput(input)).toThrow(
      expect.objectContaining({ code: "invalid_input", retryable: false, message: expect.stringContaining(named) }),
    );
  });
});
