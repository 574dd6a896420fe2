import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { modelArtifacts } from "../../../../island-agent/artifacts/model-artifacts.ts";
import { splitGguf } from "../../../support/models/split-gguf.ts";
import { file, sha256 } from "../../models/file-server.ts";
import { StoreFixture } from "../../models/store-fixture.ts";
import { collect, makeCargo, makeRequest, makeRuntime, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

const SPLIT = await splitGguf(readFileSync(TINY_ISLANDER), 3);
const fixture = await StoreFixture.make();
afterAll(() => fixture[Symbol.asyncDispose]());

const [model, ...parts] = SPLIT.map((bytes, index) => {
  fixture.server.on(`/models/part-${index}.gguf`, file(bytes));
  return { url: `/models/part-${index}.gguf`, sha256: sha256(bytes), sizeBytes: bytes.length };
});
const cargo = makeCargo({ model: model ?? null, parts });

describe("a model in three GGUF files", () => {
  it("is loaded from the files of its Cargo, whatever their addresses are, and answers like the whole file", async () => {
    const { models, folders } = await fixture.openFolders();
    const [store] = modelArtifacts(models, folders);
    const lease = await store?.acquire(cargo, NEVER, () => undefined, true);
    expect(basename(lease?.path ?? "")).toBe("model-00001-of-00003.gguf");
    await using loaded = await makeRuntime().load(cargo, lease?.path ?? "", NEVER, async (estimate) => {
      expect((await estimate()).ramBytes).toBeGreaterThan(SPLIT.reduce((sum, { length }) => sum + length, 0));
      return Infinity;
    });
    const { text } = await collect(loaded, makeRequest({ prompt: "Count from 3 to 9.", max_tokens: 24 }));
    expect(text).toBe("3, 4, 5, 6, 7, 8, 9.");
    lease?.release();
  });
});
