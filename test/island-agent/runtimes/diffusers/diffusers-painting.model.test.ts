import { afterAll, beforeAll, describe, expect, it } from "vitest";
import sharp from "sharp";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { encodePng, type PaintedBox } from "../../../support/models/test-images.ts";
import { HARDLY, loadPainter, paint, type Painted, pipelineFixture, PLAINLY } from "./diffusers-support.ts";

const SIDE = 64;
const whole = (colour: PaintedBox["colour"]): PaintedBox => ({ colour, left: 0, top: 0, right: SIDE, bottom: SIDE });
const RIGHT_HALF: PaintedBox = { colour: "white", left: SIDE / 2, top: 0, right: SIDE, bottom: SIDE };
const pngOf = (...boxes: PaintedBox[]): string => encodePng(SIDE, SIDE, boxes).toString("base64");
const BLUE_IMAGE = pngOf(whole("blue"));
const JOB = { prompt: "a red picture", seed: 7, guidance_scale: 2, steps: 12, image: BLUE_IMAGE };

interface Colour {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
}
const isRed = { red: expect.toSatisfy((mean) => mean > PLAINLY), blue: expect.toSatisfy((mean) => mean < HARDLY) };
const isBlue = { red: isRed.blue, blue: isRed.red };

/** Mean colours of both halves of an image, without the margin around the middle that the decoder blurs. */
async function halvesOf({ data, width, height }: Painted): Promise<[left: Colour, right: Colour]> {
  const meanOf = async (left: number): Promise<Colour> => {
    const region = { left, top: 0, width: width / 2 - 16, height };
    const { channels } = await sharp(await sharp(Buffer.from(data, "base64")).extract(region).toBuffer()).stats();
    const [red, green, blue] = channels.map(({ mean }) => mean) as [number, number, number];
    return { red, green, blue };
  };
  return [await meanOf(0), await meanOf(width / 2 + 16)];
}

describe.each(["tiny-sd", "tiny-sdxl"])("%s with an image as input", (name) => {
  let painter: HostedCargo;
  beforeAll(async () => {
    painter = await loadPainter(pipelineFixture(name));
  });
  afterAll(() => painter[Symbol.asyncDispose]());

  it("keeps more of the image with a smaller strength, and runs that share of the steps", async () => {
    const faint = await paint(painter, { ...JOB, strength: 0.1 });
    expect(faint).toMatchObject(isBlue);
    expect(faint.items.filter(({ type }) => type === "progress")).toEqual([{ type: "progress", step: 1, total: 1 }]);
    const strong = await paint(painter, { ...JOB, strength: 1 });
    expect(strong).toMatchObject(isRed);
    expect(strong.items.filter(({ type }) => type === "progress")).toHaveLength(12);
    const usual = await paint(painter, JOB);
    expect(usual.items.filter(({ type }) => type === "progress")).toHaveLength(9);
  });

  it("generates the same image for the same seed, and another for another seed", async () => {
    const [first, again, other] = [
      await paint(painter, { ...JOB, strength: 0.5 }),
      await paint(painter, { ...JOB, strength: 0.5 }),
      await paint(painter, { ...JOB, strength: 0.5, seed: 8 }),
    ];
    expect(again.data).toBe(first.data);
    expect(other.data).not.toBe(first.data);
  });

  it("scales and crops a JPEG to the requested size", async () => {
    const wide = await sharp(Buffer.from(BLUE_IMAGE, "base64")).resize(300, 100, { fit: "fill" }).jpeg().toBuffer();
    const job = { ...JOB, image: wide.toString("base64"), strength: 0.1, width: 128, height: 64 };
    const { width, height, red, blue } = await paint(painter, job);
    expect([width, height]).toEqual([128, 64]);
    expect(blue - red).toBeGreaterThan(PLAINLY - HARDLY);
  });

  it("repaints where the mask is white, and keeps the rest", async () => {
    const [left, right] = await halvesOf(await paint(painter, { ...JOB, mask_image: pngOf(RIGHT_HALF) }));
    expect(left).toMatchObject(isBlue);
    expect(right).toMatchObject(isRed);
  });

  it("repaints where the mask is transparent, regardless of its colour", async () => {
    const rgba = Buffer.alloc(SIDE * SIDE * 4, 255);
    for (let pixel = 0; pixel < SIDE * SIDE; pixel += 1) if (pixel % SIDE < SIDE / 2) rgba[pixel * 4 + 3] = 0;
    const mask = await sharp(rgba, { raw: { width: SIDE, height: SIDE, channels: 4 } })
      .png()
      .toBuffer();
    const [left, right] = await halvesOf(await paint(painter, { ...JOB, mask_image: mask.toString("base64") }));
    expect(left).toMatchObject(isRed);
    expect(right).toMatchObject(isBlue);
  });
});

describe("a job with an image", () => {
  it("is refused by a pipeline without an encoder, which still supports prompts", async () => {
    await using painter = await loadPainter(pipelineFixture("tiny-lcm"));
    await expect(paint(painter, JOB)).rejects.toMatchObject({
      code: "invalid_input",
      message: "image: this model accepts only a prompt, because its folder lacks a vae_encoder",
      retryable: false,
    });
    await expect(paint(painter, { prompt: "red", steps: 2 })).resolves.toBeDefined();
  });

  it.each([
    [{ mask_image: BLUE_IMAGE, image: undefined }, "mask_image: requires the parameter image"],
    [{ strength: 0.5, image: undefined }, "strength: requires the parameter image"],
    [{ strength: 0 }, "strength: "],
    [{ image: "bm8gaW1hZ2U=" }, "image: must be a PNG, JPEG or WebP file"],
    [{ image: BLUE_IMAGE.slice(0, 64) }, "image: cannot be decoded"],
    [{ mask_image: BLUE_IMAGE.slice(0, 64) }, "mask_image: cannot be decoded"],
  ])("is refused for an invalid field: %#", async (fields, message) => {
    await using painter = await loadPainter(pipelineFixture("tiny-sd"));
    await expect(paint(painter, { ...JOB, ...fields })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
  });
});
