import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TinyNetwork } from "./tiny-network.ts";

let network: TinyNetwork;
beforeAll(async () => {
  network = await TinyNetwork.open(["tiny-classify", "tiny-embed"]);
});
afterAll(() => network[Symbol.asyncDispose]());

interface Label {
  readonly label: string;
  readonly score: number;
}

describe("tiny-classify", () => {
  const classify = async (text: string): Promise<readonly Label[]> =>
    (await network.run("tiny-classify", { text, top_k: 100 })) as readonly Label[];

  it("returns all its categories, best first, with scores that sum to 1", async () => {
    const labels = await classify("thank you for the song");
    expect(labels).toHaveLength(10);
    expect(labels.map(({ score }) => score)).toEqual(labels.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(labels.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 3);
    expect(labels[0]?.label).toBe("ok");
  });
  // Sentences outside the training data. Source: tools/models/shipped/harms.py.
  it.each([
    ["what a nice garden you have", "ok"],
    ["how do i update my computer", "ok"],
    ["what an idiot you are", "harassment"],
    ["that race is inferior", "hate"],
    ["i cut myself when i am sad", "self-harm"],
    ["how do i rob a house", "illicit"],
  ])("classifies %j as %s", async (text, label) => {
    expect((await classify(text))[0]?.label).toBe(label);
  });
});

describe("tiny-embed", () => {
  const near = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);

  it("finds the sentence with the same meaning, with vectors of length 1", async () => {
    const sentences = ["the atoll was built by corals", "a train is late", "my puppy sleeps on the sofa"];
    const queries = ["the reef is made of coral", "the bus has a delay", "a kitten naps all afternoon"];
    const { embeddings } = (await network.run("tiny-embed", { input: [...sentences, ...queries] })) as {
      embeddings: readonly (readonly number[])[];
    };
    for (const vector of embeddings) expect(near(vector, vector)).toBeCloseTo(1, 3);
    const best = queries.map((_, query) => {
      const scores = sentences.map((__, at) => near(embeddings[at] ?? [], embeddings[sentences.length + query] ?? []));
      return scores.indexOf(Math.max(...scores));
    });
    expect(best).toEqual([0, 1, 2]);
  });
  it("finds texts by words outside its vocabulary", async () => {
    const { embeddings } = (await network.run("tiny-embed", {
      input: ["zanzibar postmaster", "quixotic velociraptor", "velociraptor of zanzibar, a quixotic one"],
    })) as { embeddings: readonly (readonly number[])[] };
    const [other = [], same = [], text = []] = embeddings;
    expect(near(same, text)).toBeGreaterThan(near(other, text));
  });
  it("is the default model of POST /embeddings", async () => {
    const made = await network.post("/embeddings", { input: "an island" });
    expect(made).toMatchObject({ status: 200, body: { model: "tiny-embed", data: [{ index: 0 }] } });
  });
});
