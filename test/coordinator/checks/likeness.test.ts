import { describe, expect, it } from "vitest";
import { compareResults, type JobResult, type Likeness } from "../../../coordinator/checks/likeness.ts";
import { seededRandom } from "../audits/made-readings.ts";
import { encodePng } from "../../support/models/test-images.ts";

const made = (output: unknown, more: Partial<JobResult> = {}): JobResult => ({ output, text: "", images: [], ...more });
const likenessOf = (a: unknown, b: unknown): Likeness => compareResults(made(a), made(b), false);

/** Returns the likeness of each pair, compared in both orders, which must not matter. */
function both(a: unknown, b: unknown): Likeness {
  const likeness = likenessOf(a, b);
  expect(likenessOf(b, a)).toBe(likeness);
  return likeness;
}

describe("exact comparison", () => {
  const compare = (a: JobResult, b: JobResult) => compareResults(a, b, true);

  it("ignores only the order of members", () => {
    expect(compare(made({ a: 1, b: [2] }), made({ b: [2], a: 1 }))).toBe("same");
    expect(compare(made({ a: 1 }), made({ a: 1.000_001 }))).toBe("different");
    expect(compare(made([1, 2]), made([2, 1]))).toBe("different");
    expect(compare(made(null), made(undefined))).toBe("different");
  });

  it("compares text and images of the feed", () => {
    expect(compare(made(1, { text: "a" }), made(1, { text: "b" }))).toBe("different");
    expect(compare(made(1, { images: ["AAAA"] }), made(1))).toBe("different");
  });
});

describe("comparison of embeddings", () => {
  const random = seededRandom(5);
  const normalized = (vector: number[]): number[] => vector.map((each) => each / Math.hypot(...vector));
  const draw = (): number[] => normalized(Array.from({ length: 64 }, () => random() - 0.5));
  const shifted = (vector: number[], by: number): number[] => {
    const noise = draw();
    return normalized(vector.map((each, at) => each + by * (noise[at] ?? 0)));
  };

  it("accepts rounding, and refuses other vectors", () => {
    for (let round = 0; round < 50; round += 1) {
      const vectors = [draw(), draw(), draw()];
      const answer = { embeddings: vectors };
      expect(both(answer, { embeddings: vectors.map((each) => shifted(each, 0.05)) })).toBe("same");
      expect(both(answer, { embeddings: vectors.map((each) => shifted(each, 0.2)) })).toBe("unsure");
      expect(both(answer, { embeddings: [draw(), ...vectors.slice(1)] })).toBe("different");
    }
  });

  it("refuses another number of vectors, or another length", () => {
    const vector = draw();
    expect(both({ embeddings: [vector] }, { embeddings: [vector, vector] })).toBe("different");
    expect(both({ embeddings: [vector] }, { embeddings: [vector.slice(1)] })).toBe("different");
  });
});

describe("comparison of labels and scores", () => {
  const labels = [
    { label: "A", score: 0.51 },
    { label: "B", score: 0.49 },
  ];

  it("accepts other scores within the tolerance, and labels that change places", () => {
    const swapped = [
      { label: "B", score: 0.52 },
      { label: "A", score: 0.48 },
    ];
    expect(both(labels, swapped)).toBe("same");
    const zeroShot = { labels: ["x", "y", "z"], scores: [0.4, 0.39, 0.21] };
    expect(both(zeroShot, { labels: ["y", "x", "z"], scores: [0.41, 0.38, 0.21] })).toBe("same");
  });

  it("is unsure about another label if no score was high", () => {
    expect(both([labels[0]], [{ label: "B", score: 0.52 }])).toBe("unsure");
    const answer = { answer: "in May", score: 0.41, start: 10, end: 16 };
    expect(both(answer, { answer: "in June", score: 0.4, start: 80, end: 87 })).toBe("unsure");
  });

  it("refuses another label with a high score, and other scores", () => {
    expect(both([{ label: "A", score: 0.99 }], [{ label: "B", score: 0.99 }])).toBe("different");
    const certain = [
      { label: "A", score: 0.95 },
      { label: "B", score: 0.05 },
    ];
    expect(both(certain, [...certain].reverse())).toBe("same");
    expect(
      both(
        certain,
        certain.map(({ label, score }) => ({ label, score: 1 - score })),
      ),
    ).toBe("different");
    expect(both({ scores: [0.9, 0.1, 0.1] }, { scores: [0.1, 0.9, 0.1] })).toBe("different");
  });

  it("refuses a certain label in another place among many", () => {
    const many = Array.from({ length: 10 }, (_, nth) => ({ label: `L${nth}`, score: nth === 0 ? 0.9 : 0.01 }));
    const other = many.map(({ label }, nth) => ({ label, score: many.at(nth - 4)?.score ?? 0 }));
    expect(both(many, other)).toBe("different");
    expect(
      both(
        many,
        many.map(({ label }) => ({ label, score: 0.1 })),
      ),
    ).toBe("different");
  });

  it("refuses findings of which most are missing, and is unsure about few", () => {
    const found = Array.from({ length: 6 }, (_, nth) => {
      return { label: "person", score: 0.99, box: { xmin: 100 * nth, ymin: 10, xmax: 100 * nth + 60, ymax: 200 } };
    });
    const moved = found.toReversed().map(({ box, ...rest }) => ({ ...rest, box: { ...box, xmin: box.xmin + 2 } }));
    expect(both(found, moved)).toBe("same");
    expect(both(found, found.slice(1))).toBe("unsure");
    expect(both([], found.slice(0, 2))).toBe("unsure");
    expect(both([], found)).toBe("different");
  });

  it("is at best unsure about other whole numbers, which may be names", () => {
    const outputs = (data: number[]) => ({ outputs: { y: { type: "int64", dims: [1], data } } });
    expect(both(outputs([101]), outputs([102]))).toBe("unsure");
    expect(both(outputs([1]), outputs([7]))).toBe("different");
  });

  it("refuses another form", () => {
    for (const [a, b] of [
      [{ a: 1 }, { b: 1 }],
      [{ a: 1 }, { a: 1, b: 1 }],
      [[1], { 0: 1 }],
      [1, "1"],
      [null, 0],
      [{ a: [] }, { a: {} }],
    ]) {
      expect(both(a, b)).toBe("different");
    }
  });
});

it("is unsure about results that take long to compare", () => {
  const vector = (value: number): number[] => Array.from({ length: 6_000_000 }, () => value);
  expect(likenessOf(vector(0.1), vector(0.9))).toBe("unsure");
});

describe("comparison of generated texts", () => {
  const text = "Im Hafen liegen heute drei kleine Boote mit roten Segeln";

  it("is unsure about texts that share most words, and about short ones", () => {
    expect(both({ translation: text }, { translation: text.replace("heute", "jetzt") })).toBe("unsure");
    expect(both({ translation: "Hallo" }, { translation: "Guten Tag" })).toBe("unsure");
  });

  it("refuses other texts", () => {
    expect(both({ translation: text }, { translation: "x" })).toBe("different");
    expect(both({ translation: text }, { translation: text.split(" ").slice(0, 3).join(" ") })).toBe("different");
    expect(both({ translation: text }, { translation: "Ich helfe dir gern damit. Frag mich einfach später" })).toBe(
      "different",
    );
  });
});

describe("comparison of images", () => {
  const draw = (left: number, colour: "red" | "blue" = "red"): string =>
    encodePng(64, 64, [{ colour, left, top: 10, right: left + 30, bottom: 40 }]).toString("base64");
  const compare = (a: string, b: string): Likeness => both({ format: "png", data: a }, { format: "png", data: b });

  it("accepts small differences of pixels, and refuses another image", () => {
    expect(compare(draw(10), draw(10))).toBe("same");
    expect(compare(draw(10), draw(11))).toBe("same");
    expect(compare(draw(10), draw(14))).toBe("unsure");
    expect(compare(draw(10), draw(10, "blue"))).toBe("different");
    expect(compare(draw(10), encodePng(64, 64, []).toString("base64"))).toBe("different");
    expect(compare(draw(10), encodePng(64, 32, []).toString("base64"))).toBe("different");
  });

  it("refuses a damaged file", () => {
    expect(compare(draw(10), "iVBORw0KGgoAAAA")).toBe("different");
    expect(compare(draw(10), "")).toBe("different");
  });

  it("compares an image of the largest size once, if it is also the output", () => {
    const large = (left: number): JobResult => {
      const png = encodePng(1_536, 1_536, [{ colour: "red", left, top: 0, right: 700, bottom: 300 }]);
      const data = png.toString("base64");
      return made({ format: "png", data }, { images: [data] });
    };
    expect(compareResults(large(0), large(1), false)).toBe("same");
  });

  it("compares the images of the feed", () => {
    const of = (image: string) => made(null, { images: [image] });
    expect(compareResults(of(draw(10)), of(draw(10, "blue")), false)).toBe("different");
    expect(compareResults(of(draw(10)), made(null), false)).toBe("different");
  });
});
