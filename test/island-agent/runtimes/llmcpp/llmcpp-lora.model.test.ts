import { afterAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { makeTinyLora } from "../../../support/models/tiny-lora.ts";
import { collect, makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

const folder = new ModelFolder();
afterAll(() => folder[Symbol.dispose]());
/** Changes a matrix of tiny-islander beyond recognition. */
const ADAPTER = folder.write("lora.gguf", makeTinyLora({ tensor: "blk.4.ffn_down.weight", from: 384, to: 128 }));

function load(scale: number, ...files: string[]): Promise<HostedCargo> {
  const adapters = files.map((url) => ({ url, sha256: "a".repeat(64), sizeBytes: null, scale }));
  const cargo = makeCargo(files.length === 0 ? {} : { adapters });
  return makeRuntime().load(cargo, TINY_ISLANDER, NEVER, undefined, files);
}
async function textOf(scale: number, ...files: string[]): Promise<string> {
  await using cargo = await load(scale, ...files);
  return (await collect(cargo, makeRequest({ prompt: "Count from 3 to 9.", max_tokens: 24 }))).text;
}

describe("a LoRA adapter", () => {
  it("changes the output in proportion to its scale", async () => {
    const plain = await textOf(1);
    expect(plain).toBe("3, 4, 5, 6, 7, 8, 9.");
    expect(await textOf(0, ADAPTER)).toBe(plain);
    expect(await textOf(8, ADAPTER)).not.toBe(plain);
  });

  it.each([
    ["is no GGUF file", folder.write("text.gguf", Buffer.from("hello"))],
    [
      "fits another model",
      folder.write("wide.gguf", makeTinyLora({ tensor: "blk.4.ffn_down.weight", from: 64, to: 64 })),
    ],
    [
      "is for another architecture",
      folder.write(
        "qwen.gguf",
        makeTinyLora({ tensor: "blk.4.ffn_down.weight", from: 384, to: 128, architecture: "qwen2" }),
      ),
    ],
  ])("that %s makes the Cargo invalid", async (_title, file) => {
    await expect(load(1, file)).rejects.toMatchObject({ code: "model_invalid", retryable: false });
  });
});
