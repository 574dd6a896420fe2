import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TinyNetwork } from "./tiny-network.ts";

const SIDE = 64;
const COLOURS = { red: [230, 30, 30], blue: [40, 70, 220], green: [30, 160, 60], yellow: [250, 220, 40] } as const;
type Colour = keyof typeof COLOURS;
/**
 * Accepted range of the share of its bounding box that each shape fills. The exact share is π/4 for a circle, 1 for a
 * square and 1/2 for the others.
 */
const FILLED = { circle: [0.7, 0.86], square: [0.88, 1.01], triangle: [0.38, 0.62], diamond: [0.45, 0.68] } as const;

let network: TinyNetwork;
beforeAll(async () => {
  network = await TinyNetwork.open(["tiny-picture"]);
});
afterAll(() => network[Symbol.asyncDispose]());

async function draw(input: object): Promise<Buffer> {
  const output = (await network.run("tiny-picture", input)) as { format: string; data: string };
  expect(output.format).toBe("png");
  const { data, info } = await sharp(Buffer.from(output.data, "base64")).removeAlpha().raw().toBuffer({
    resolveWithObject: true,
  });
  expect([info.width, info.height]).toEqual([SIDE, SIDE]);
  return data;
}

/**
 * Finds the pixels closer to `inside` than to `around`. Returns the filled share of their bounding box, and its centre.
 */
function shapeIn(pixels: Buffer, inside: Colour, around: Colour): { filled: number; middle: [number, number] } {
  const far = (pixel: number, colour: Colour): number =>
    COLOURS[colour].reduce((sum, part, channel) => sum + Math.abs(part - (pixels[3 * pixel + channel] ?? 0)), 0);
  expect(far(0, around)).toBeLessThan(60);
  const found = [...Array(SIDE * SIDE).keys()].filter((pixel) => far(pixel, inside) < far(pixel, around));
  const [xs, ys] = [found.map((pixel) => pixel % SIDE), found.map((pixel) => Math.floor(pixel / SIDE))];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const box = (right - left + 1) * (bottom - top + 1);
  return { filled: found.length / box, middle: [(left + right) / 2, (top + bottom) / 2] };
}

describe("tiny-picture", () => {
  it.each([
    ["circle", "red", "blue"],
    ["square", "yellow", "green"],
    ["triangle", "blue", "yellow"],
    ["diamond", "green", "red"],
  ] as const)("draws a %s of the colour %s on %s", async (shape, inside, around) => {
    const pixels = await draw({ prompt: `a big ${inside} ${shape} on ${around}`, seed: 3 });
    const { filled } = shapeIn(pixels, inside, around);
    const [least, most] = FILLED[shape];
    expect(filled).toBeGreaterThan(least);
    expect(filled).toBeLessThan(most);
  });
  it("places the shape as prompted", async () => {
    const left = shapeIn(await draw({ prompt: "a small red disc on the left on yellow", seed: 1 }), "red", "yellow");
    const top = shapeIn(await draw({ prompt: "a small red disc at the top on yellow", seed: 1 }), "red", "yellow");
    expect(left.middle[0]).toBeLessThan(30);
    expect(top.middle[1]).toBeLessThan(30);
    expect(Math.abs(top.middle[0] - 31.5)).toBeLessThan(4);
  });
  it("draws the same image for the same seed, and a different one for another seed", async () => {
    const prompt = "a green square on white";
    const [first, again, other] = [
      await draw({ prompt, seed: 5 }),
      await draw({ prompt, seed: 5 }),
      await draw({ prompt, seed: 6 }),
    ];
    expect(again.equals(first)).toBe(true);
    expect(other.equals(first)).toBe(false);
  });
});
