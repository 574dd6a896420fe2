import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { encodePng } from "../../../support/models/test-images.ts";
import {
  HARDLY,
  loadPainter,
  paint,
  paintHere,
  PipelineCopies,
  pipelineFixture,
  PLAINLY,
} from "./diffusers-support.ts";

const copies = new PipelineCopies();
afterAll(() => copies[Symbol.dispose]());

const RED = { prompt: "a red picture", seed: 7, steps: 8 };
const GUIDANCE = { "tiny-sd3": 1.5, "tiny-flux": 12 };
const isRed = { red: expect.toSatisfy((mean) => mean > PLAINLY), blue: expect.toSatisfy((mean) => mean < HARDLY) };
const isBlue = { red: isRed.blue, blue: isRed.red };

describe.each(["tiny-sd3", "tiny-flux"] as const)("the flow matching pipeline %s", (name) => {
  const job = { ...RED, guidance_scale: GUIDANCE[name] };

  it("generates what the prompt describes, even in other sizes", async () => {
    await using painter = await loadPainter(pipelineFixture(name));
    expect(await paint(painter, job)).toMatchObject({ width: 64, height: 64, ...isRed });
    expect(await paint(painter, { ...job, prompt: "everything is blue" })).toMatchObject(isBlue);
    expect(await paint(painter, { ...job, width: 128, height: 64 })).toMatchObject({
      width: 128,
      height: 64,
      ...isRed,
    });
    expect((await paint(painter, job)).data).toBe((await paint(painter, job)).data);
  });

  it("edits an image", async () => {
    const blue = { colour: "blue" as const, left: 0, top: 0, right: 64, bottom: 64 };
    const image = encodePng(64, 64, [blue]).toString("base64");
    expect(await paintHere(pipelineFixture(name), { ...job, image, strength: 0.2 })).toMatchObject(isBlue);
    expect(await paintHere(pipelineFixture(name), { ...job, image, strength: 1 })).toMatchObject(isRed);
  });

  it("refuses a size that its transformer cannot divide into tokens", async () => {
    await expect(paintHere(pipelineFixture(name), { ...job, width: 72 })).rejects.toMatchObject({
      code: "invalid_input",
      message: "width: width and height must be multiples of 16 pixels for this model",
    });
  });
});

describe("Stable Diffusion 3", () => {
  it("generates without T5, with zeros as its states", async () => {
    const folder = copies.make("tiny-sd3");
    for (const part of ["text_encoder_3", "tokenizer_3"]) rmSync(path.join(folder, part), { recursive: true });
    expect(await paintHere(folder, { ...RED, guidance_scale: 1.5 })).toMatchObject(isRed);
  });
});

describe("Flux", () => {
  it("passes the guidance scale to the network, so that a larger scale makes the colour stronger", async () => {
    const [pale, full] = await Promise.all(
      [1, 12].map((scale) => paintHere(pipelineFixture("tiny-flux"), { ...RED, guidance_scale: scale })),
    );
    expect((full?.red ?? 0) - (pale?.red ?? 0)).toBeGreaterThan(3);
  });
});
