import { describe, expect, it } from "vitest";
import type { CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import { traitsOf } from "../../../coordinator/jobs/job-traits.ts";
import type { JobInput } from "../../../coordinator/store/jobs/job-store.ts";
import type { JobSize } from "../../../coordinator/scheduler/events.ts";

const MAX_OUTPUT_BYTES = 1_024 * 1_024;
const chat = { slug: "llama", isChat: true, runtimeType: "llmcpp", onnxTaskType: null, inputSchema: {} } as const;
const sizeOf = (input: JobInput, accountId = "user_1", cargo: object = chat): JobSize =>
  traitsOf(input, cargo as CatalogEntry, MAX_OUTPUT_BYTES, accountId).size;
const hashesOf = (size: JobSize): number[] => size.promptParts.map(({ hash }) => hash);

const TEXT = "word ".repeat(80);
const user = { role: "user", content: TEXT };
const assistant = { role: "assistant", content: TEXT };
const conversation = (count: number) =>
  Array.from({ length: count }, (_, index) => (index % 2 === 0 ? user : assistant));

describe("the size of a chat", () => {
  it("has one part for each message, which a longer conversation repeats", () => {
    const first = sizeOf({ messages: conversation(3) });
    expect(first).toMatchObject({ input: 300, promptParts: [{ tokens: 100 }, { tokens: 200 }, { tokens: 300 }] });
    expect(hashesOf(sizeOf({ messages: conversation(5) })).slice(0, 3)).toEqual(hashesOf(first));
  });

  it("counts an answer that follows a part, but no other message", () => {
    const answers = ({ promptParts }: JobSize) => promptParts.map(({ withAnswer }) => withAnswer);
    expect(answers(sizeOf({ messages: [user, assistant, user] }))).toEqual([200, undefined, undefined]);
    expect(answers(sizeOf({ messages: [user, user, assistant] }))).toEqual([undefined, 300, undefined]);
    expect(answers(sizeOf({ messages: conversation(20) }))).toHaveLength(8);
    expect(answers(sizeOf({ messages: conversation(20) }))[0]).toBe(200);
  });

  it("has other parts for another account, Cargo, role, text or list of tools", () => {
    const messages = conversation(1);
    const tools = [{ type: "function", function: { name: "sum", parameters: { type: "object" } } }];
    const sizes = [
      sizeOf({ messages }),
      sizeOf({ messages }, "user_2"),
      sizeOf({ messages }, "user_1", { ...chat, slug: "other" }),
      sizeOf({ messages: [{ ...user, role: "system" }] }),
      sizeOf({ messages: [{ ...user, content: `${TEXT}.` }] }),
      sizeOf({ messages, tools }),
    ];
    expect(new Set(sizes.flatMap(hashesOf)).size).toBe(sizes.length);
  });

  it("counts tools and images in the parts as in the whole prompt", () => {
    const tools = [{ type: "function", function: { name: "sum", description: TEXT } }];
    const url = `data:image/png;base64,${"A".repeat(100_000)}`;
    const content = [
      { type: "text", text: TEXT },
      { type: "image_url", image_url: { url } },
    ];
    for (const input of [{ messages: [user], tools }, { messages: [{ role: "user", content }] }]) {
      const size = sizeOf(input);
      expect(size.promptParts.at(-1)?.tokens).toBe(size.input);
    }
  });

  it("has other parts for another image", () => {
    const sizes = ["A", "B"].map((letter) => {
      const url = `data:image/png;base64,${letter.repeat(100_000)}`;
      return sizeOf({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
    });
    expect(new Set(sizes.flatMap(hashesOf)).size).toBe(2);
  });

  it("has no parts for a short prompt, and at most eight for a long conversation", () => {
    expect(sizeOf({ messages: [{ role: "user", content: "Hi" }] })).toMatchObject({ input: 1, promptParts: [] });
    const { promptParts } = sizeOf({ messages: conversation(100) });
    expect(promptParts).toHaveLength(8);
    expect(promptParts.at(-1)?.tokens).toBe(10_000);
    const [first] = hashesOf(sizeOf({ messages: conversation(1) }));
    expect(promptParts[0]?.hash).toBe(first);
  });

  it("has a part for each 2,048 characters of a raw prompt", () => {
    const prompt = "x".repeat(5_000);
    const raw = sizeOf({ prompt, raw: true });
    expect(raw.promptParts.map(({ tokens }) => tokens)).toEqual([512, 1_024, 1_250]);
    const longer = sizeOf({ prompt: `${prompt}y`, raw: true });
    expect(hashesOf(longer).slice(0, 2)).toEqual(hashesOf(raw).slice(0, 2));
  });
});

it("the size of a job without tokens is the bytes of its input", () => {
  const cargo = { ...chat, isChat: false, runtimeType: "wasm" };
  expect(sizeOf({ data: "abc" }, "user_1", cargo)).toEqual({ input: 14, maxOutput: null, promptParts: [] });
});
