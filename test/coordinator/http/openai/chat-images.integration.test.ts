import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_IMAGES_BYTES } from "../../../../shared/chat-images.ts";
import { encodePng } from "../../../support/models/test-images.ts";
import { Api } from "../api.ts";
import { CARGOS_WITH_IMAGES } from "../api-catalog.ts";
import { completeWith } from "../scripted-chats.ts";

const PNG = encodePng(1, 1, []);
const URL = `data:image/png;base64,${PNG.toString("base64")}`;
const PARTS = [
  { type: "text", text: "What is this?" },
  { type: "image_url", image_url: { url: URL } },
];
const REQUESTS = [
  ["chat completions", "/chat/completions", { messages: [{ role: "user", content: PARTS }] }],
  [
    "responses",
    "/responses",
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is this?" },
            { type: "input_image", image_url: URL },
          ],
        },
      ],
    },
  ],
  [
    "messages",
    "/messages",
    {
      max_tokens: 5,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG.toString("base64") } },
          ],
        },
      ],
    },
  ],
] as const;

describe("a chat with an image", () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.open();
    api.catalog.replace(CARGOS_WITH_IMAGES);
    completeWith(api, "A box");
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it.each(REQUESTS)("of %s becomes a job with the same parts", async (_name, path, body) => {
    const { status } = await api.call("POST", path, { body: { model: "tiny", ...body } });
    expect(status).toBe(200);
    const [job] = api.jobs.submitted.splice(0);
    expect(job?.input).toMatchObject({ messages: [{ role: "user", content: PARTS }] });
  });

  it("can be sent to models that list images among their input_modalities", async () => {
    const { body } = await api.call("GET", "/models/tiny");
    expect(body).toMatchObject({ input_modalities: ["text", "image"] });
  });

  it.each([
    ["/chat/completions", 200],
    ["/embeddings", 413],
  ] as const)("may be larger than other requests: POST %s responds with %d", async (path, expected) => {
    const url = `data:image/png;base64,${Buffer.concat([PNG, Buffer.alloc(MAX_IMAGES_BYTES - PNG.length)]).toString("base64")}`;
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
    expect((await api.call("POST", path, { body: { model: "tiny", messages } })).status).toBe(expected);
  });

  it("is limited to 6 MiB", async () => {
    const messages = [{ role: "user", content: "a".repeat(6 * 1_048_576) }];
    const { status, body } = await api.call("POST", "/chat/completions", { body: { messages } });
    expect(status).toBe(413);
    expect(JSON.stringify(body)).toContain("6291456 bytes");
  });
});
