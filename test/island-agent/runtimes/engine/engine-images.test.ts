import { describe, expect, it } from "vitest";
import { chatRequestTo } from "../../../../island-agent/runtimes/engine/chat-request.ts";
import { llamaServer } from "../../../../island-agent/runtimes/engine/profiles/llama-server.ts";
import { readChat } from "../../../../island-agent/runtimes/text-input.ts";
import { chatInputSchema } from "../../../../shared/chat-input.ts";
import { chatFeaturesOf } from "../../../../shared/features/features.ts";
import { encodePng } from "../../../support/models/test-images.ts";

const base64 = encodePng(8, 8, []).toString("base64");
const inputWith = (url: string) => {
  const content = [
    { type: "text", text: "What is " },
    { type: "image_url", image_url: { url, detail: "low" } },
    { type: "text", text: "this?" },
  ];
  return { messages: [{ role: "user", content }] };
};
const requestWith = (url: string) =>
  chatRequestTo(llamaServer, { id: "m" }, readChat(inputWith(url)), { resume: null });

describe("the request of a chat with an image", () => {
  it("has texts and images in their order, with the type that the image has", () => {
    expect(requestWith(`data:image/jpeg;base64,${base64}`).body).toMatchObject({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is " },
            { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } },
            { type: "text", text: "this?" },
          ],
        },
      ],
    });
  });
  it.each(["https://images.example/a.png", "http://169.254.169.254/", "data:image/png;base64,PHN2Zy8+"])(
    "never has an address, which the engine would download, or another file: %s",
    (url) => {
      expect(() => requestWith(url)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    },
  );
});

describe("chatFeaturesOf()", () => {
  it("requires chat.images only for chats with images", () => {
    const featuresOf = (input: object) => chatFeaturesOf(chatInputSchema.parse(input));
    expect(featuresOf(inputWith(`data:image/png;base64,${base64}`))).toEqual(["chat.images"]);
    expect(featuresOf({ messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] })).toEqual([]);
  });
});
