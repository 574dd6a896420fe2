import { expect, it } from "vitest";
import type { CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import type { JobInput } from "../../../coordinator/store/jobs/job-store.ts";
import { traitsOf } from "../../../coordinator/jobs/job-traits.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;
const chat = { isChat: true, runtimeType: "llmcpp", onnxTaskType: null, inputSchema: {} } as const;
const picture = { isChat: false, runtimeType: "diffusers", onnxTaskType: null, inputSchema: {} } as const;
const limitOf = (input: JobInput, cargo?: Partial<CatalogEntry>): number =>
  traitsOf(input, cargo as CatalogEntry | undefined, 16 * MIB, "user_1").maxOutputBytes;

it("traitsOf() allows a chat 1 KB for each requested token", () => {
  expect(limitOf({ prompt: "Hi", max_tokens: 9 }, chat)).toBe(10 * KIB);
});

it("traitsOf() counts 16,384 tokens for each image of a chat's prompt, and none of its bytes", () => {
  const url = `data:image/png;base64,${"A".repeat(100_000)}`;
  const content = [
    { type: "text", text: "Hi" },
    { type: "image_url", image_url: { url } },
  ];
  const asking = (parts: unknown): JobInput => ({ messages: [{ role: "user", content: parts }] });
  const tokensOf = (input: JobInput): number => traitsOf(input, chat as CatalogEntry, MIB, "user_1").maxPromptTokens;
  expect(tokensOf(asking(content)) - tokensOf(asking("Hi"))).toBe(16_384);
});

it("traitsOf() allows an image job the output for its size, and never more than other jobs", () => {
  expect(limitOf({ width: 512, height: 512 }, picture)).toBe(MIB + 512 * 512 * 12);
  expect(
    limitOf({ width: 512, height: 512 }, { ...picture, runtimeType: "coreml", onnxTaskType: "text-to-image" }),
  ).toBe(4 * MIB);
  expect(limitOf({ width: 1e9, height: 1e9 }, picture)).toBe(16 * MIB);
  expect(limitOf({ width: "512", height: 512 }, picture)).toBe(16 * MIB);
});

it("traitsOf() allows any other job the Cargo's maximum, else that of the setting", () => {
  const wasm = { isChat: false, runtimeType: "wasm", onnxTaskType: null, inputSchema: {} } as const;
  expect(limitOf({ width: 1, height: 1 }, wasm)).toBe(16 * MIB);
  expect(limitOf({}, { ...wasm, maxOutputBytes: 40 * MIB })).toBe(40 * MIB);
  expect(limitOf({})).toBe(16 * MIB);
});
