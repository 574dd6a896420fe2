import * as fc from "fast-check";
import { Packr } from "msgpackr";
import { describe, expect, it } from "vitest";
import { chatInputJsonSchema } from "../../../coordinator/catalog/default-schemas.ts";
import { checkInput } from "../../../coordinator/catalog/input-check.ts";
import { MAX_IMAGES, MAX_IMAGES_BYTES } from "../../../shared/chat-images.ts";
import { MAX_CHAT_BYTES, MAX_INPUT_BYTES } from "../../../shared/chat-input.ts";
import { hasTooManyValues } from "../../../shared/protocol/frame-values.ts";
import { ValidationError, type FieldError } from "../../../shared/errors.ts";
import { encodePng } from "../../support/models/test-images.ts";

const packr = new Packr({ useRecords: false });
const CHAT = { isChat: true, inputSchema: chatInputJsonSchema };
const OTHER = {
  isChat: false,
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string", maxLength: 300_000 },
      size: { enum: ["small", "large"] },
      tags: { type: "array", items: { type: "string" }, maxItems: 100_000 },
    },
    required: ["text"],
    additionalProperties: false,
  },
};

type Checked = Parameters<typeof checkInput>[0];

function detailsOf(input: Record<string, unknown>, cargo: Checked = CHAT, root?: string): readonly FieldError[] {
  try {
    checkInput(cargo, input, root);
  } catch (error) {
    if (error instanceof ValidationError) return error.details;
    throw error;
  }
  return [];
}
const pathsOf = (input: Record<string, unknown>): string[] => detailsOf(input).map(({ path }) => path);

const PNG_URL = `data:image/png;base64,${encodePng(8, 8, []).toString("base64")}`;
const asking = (...urls: readonly string[]) => {
  const images = urls.map((url) => ({ type: "image_url", image_url: { url } }));
  return { messages: [{ role: "user", content: [{ type: "text", text: "?" }, ...images] }] };
};
const PROJECTOR = { url: "/models/mmproj.gguf", sha256: "a".repeat(64), sizeBytes: 1 };
const SEEING = { ...CHAT, slug: "seer", projector: PROJECTOR };

it("checkInput() refuses an answer to be read, which only coordinators send", () => {
  const read = { text: "a", has_end: true, at: [0] };
  const error = { path: "input.read", message: "is not a field of chats" };
  for (const value of [read, null, "a"]) expect(detailsOf({ prompt: "a", read: value })).toEqual([error]);
  expect(Object.keys(chatInputJsonSchema["properties"] as object)).not.toContain("read");
});

describe("checkInput() for a chat with images", () => {
  const path = "input.messages.0.content.1.image_url.url";
  it("accepts data URLs and addresses for a Cargo with a projector, and for an engine's that reads images", () => {
    expect(detailsOf(asking(PNG_URL, "https://images.example/a.png"), SEEING)).toEqual([]);
    expect(detailsOf(asking(PNG_URL), { ...CHAT, readsImages: true })).toEqual([]);
  });
  it("refuses an image for a Cargo that reads only text, and names the Cargo and what to do", () => {
    const message = expect.stringMatching(/the Cargo "blind" reads only text\. Remove the image, or choose/) as string;
    expect(detailsOf(asking(PNG_URL), { ...CHAT, slug: "blind" })).toEqual([{ path, message }]);
  });
  it.each([
    ["another scheme", "file:///etc/passwd", /must be a data URL .* or an https address/],
    ["no base64", "data:image/png;base64,*", /must be data:image\/…;base64, and then base64/],
    ["another type, whatever it is called", "data:image/png;base64,PHN2Zy8+", /must be a PNG, JPEG, WebP or GIF/],
  ])("refuses %s", (_what, url, message) => {
    expect(detailsOf(asking(url), SEEING)).toMatchObject([{ path, message: expect.stringMatching(message) as string }]);
  });
  it("limits the number of images", () => {
    expect(detailsOf(asking(...Array.from({ length: MAX_IMAGES }, () => PNG_URL)), SEEING)).toEqual([]);
    const [detail] = detailsOf(asking(...Array.from({ length: MAX_IMAGES + 1 }, () => PNG_URL)), SEEING);
    expect(detail?.message).toMatch(/^is one of 17 images/);
  });
  it("limits the images by their size, and the rest of the input as without images", () => {
    const png = encodePng(8, 8, []);
    const withBytes = (bytes: number): string =>
      `data:image/png;base64,${Buffer.concat([png, Buffer.alloc(bytes - png.length)]).toString("base64")}`;
    const fits = asking(withBytes(MAX_IMAGES_BYTES));
    expect(detailsOf(fits, SEEING)).toEqual([]);
    const [tooLarge] = detailsOf(asking(withBytes(MAX_IMAGES_BYTES), PNG_URL), SEEING);
    expect(tooLarge?.message).toMatch(/^is one of several images of together 3\.0 MiB; at most 3\.0 MiB/);
    const [tooLong] = detailsOf({ ...fits, system_prompt: "x".repeat(MAX_CHAT_BYTES) }, SEEING);
    expect(tooLong).toMatchObject({
      path: "input",
      message: expect.stringMatching(/bytes as JSON, but at most/) as string,
    });
  });
  it.each(["system", "assistant", "tool"])("refuses an image in a message of the role %s", (role) => {
    const messages = asking(PNG_URL).messages.map((message) => ({ ...message, role }));
    expect(detailsOf({ messages }, SEEING)).toEqual([
      { path: "input.messages.0.content", message: "may have images only in user messages" },
    ]);
  });
});

describe("checkInput() for a chat Cargo", () => {
  it("accepts a prompt, messages, nulls for defaults and unknown fields", () => {
    expect(detailsOf({ prompt: "Hello", max_tokens: 5, temperature: null, colour: "blue" })).toEqual([]);
    expect(detailsOf({ messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] })).toEqual([]);
  });
  it("names every invalid field", () => {
    expect(pathsOf({ messages: [{ role: "king", content: "a" }, { role: "user" }], max_tokens: 0, top_p: 2 })).toEqual([
      "input.messages.0.role",
      "input.messages.1.content",
      "input.max_tokens",
      "input.top_p",
    ]);
  });
  it('accepts a reasoning effort for Cargos with reasoning, and "none" for all', () => {
    expect(detailsOf({ prompt: "Hi", reasoning_effort: "none" })).toEqual([]);
    expect(detailsOf({ prompt: "Hi", reasoning_effort: "low" })).toMatchObject([{ path: "input.reasoning_effort" }]);
    const thinking = { ...CHAT, reasoning: true as const };
    expect(detailsOf({ prompt: "Hi", reasoning_effort: "low" }, thinking)).toEqual([]);
    expect(detailsOf({ prompt: "Hi", reasoning_effort: "endless" }, thinking)).toHaveLength(1);
  });
  it("limits token probabilities by the length of the completion", () => {
    const asked = { prompt: "Hi", logprobs: true, top_logprobs: 20 };
    expect(detailsOf({ ...asked, max_tokens: 4_000 })).toEqual([]);
    const long = { ...CHAT, contextTokens: 8_192 };
    expect(detailsOf({ ...asked, max_tokens: 4_762 }, long)).toMatchObject([{ path: "input.top_logprobs" }]);
    // The check first lowers the value to 4,096.
    expect(detailsOf({ ...asked, max_tokens: 4_762 })).toEqual([]);
    expect(pathsOf({ prompt: "Hi", top_logprobs: 1 })).toEqual(["input.top_logprobs"]);
    expect(pathsOf({ prompt: "Hi", logprobs: true, top_logprobs: 21 })).toEqual(["input.top_logprobs"]);
  });
  it("names the path of a schema that no grammar can enforce or that costs too much", () => {
    const asked = (schema: object) => ({
      prompt: "Hi",
      response_format: { type: "json_schema", json_schema: { name: "a", schema } },
    });
    const strings = Array.from({ length: 990 }, (_, index) => [
      `p${index}`,
      { type: "string", maxLength: 1_010 + index },
    ]);
    expect(detailsOf(asked({ type: "object", properties: Object.fromEntries(strings) }))).toEqual([
      {
        path: "input.response_format.json_schema.schema",
        message: "its lengths and numbers of items and properties add up to 1489455; at most 20000 are supported",
      },
    ]);
    expect(pathsOf(asked({ type: "object", properties: { a: { not: {} } } }))).toEqual([
      "input.response_format.json_schema.schema.properties.a",
    ]);
    expect(detailsOf(asked({ type: "object", properties: { a: { type: "string" } } }))).toEqual([]);
  });
  it("requires exactly one of prompt and messages", () => {
    expect(pathsOf({})).toEqual(["input.messages"]);
    expect(pathsOf({ prompt: "a", messages: [{ role: "user", content: "b" }] })).toEqual(["input.messages"]);
  });
  it("starts paths with the field that the caller names", () => {
    expect(detailsOf({}, CHAT, "body")[0]?.path).toBe("body.messages");
  });
});

describe("checkInput() for any Cargo", () => {
  it("accepts up to 256 KiB of JSON, and 1 MiB for a chat", () => {
    const chatAround = JSON.stringify({ prompt: "" }).length;
    expect(detailsOf({ prompt: "x".repeat(MAX_CHAT_BYTES - chatAround) })).toEqual([]);
    expect(detailsOf({ prompt: "x".repeat(MAX_CHAT_BYTES - chatAround + 1) })).toEqual([
      { path: "input", message: "is 1048577 bytes as JSON, but at most 1048576 are allowed" },
    ]);
    const around = JSON.stringify({ text: "" }).length;
    const inputSchema = { type: "object" };
    const detailsOfText = (length: number) => detailsOf({ text: "x".repeat(length) }, { isChat: false, inputSchema });
    expect(detailsOfText(MAX_INPUT_BYTES - around)).toEqual([]);
    expect(detailsOfText(MAX_INPUT_BYTES - around + 1)).toEqual([
      { path: "input", message: "is 262145 bytes as JSON, but at most 262144 are allowed" },
    ]);
  });
  it.each([CHAT, { isChat: false, inputSchema: { type: "object" } }])(
    "rejects more member names than an agent reads in a frame (%#)",
    (cargo) => {
      const withNames = (count: number) => ({
        prompt: "Hi",
        more: Object.fromEntries(Array.from({ length: count }, (_, at) => [`name${at}`, 1])),
      });
      expect(detailsOf(withNames(14_990), cargo)).toEqual([]);
      expect(detailsOf(withNames(15_001), cargo)).toEqual([
        { path: "input", message: "has more than 15000 different member names" },
      ]);
      const frame = { type: "assign", jobId: "job_1", input: withNames(14_990) };
      expect(hasTooManyValues(packr.pack(frame))).toBe(false);
      expect(hasTooManyValues(packr.pack({ ...frame, input: withNames(20_001) }))).toBe(true);
    },
  );
  it("limits the size of a response schema", () => {
    const schema = { type: "object", description: "x".repeat(MAX_INPUT_BYTES) };
    const response_format = { type: "json_schema", json_schema: { name: "a", schema } };
    expect(detailsOf({ prompt: "Hi", response_format })).toMatchObject([
      { path: "input.response_format.json_schema.schema" },
    ]);
  });
  it("counts bytes, not characters", () => {
    expect(detailsOf({ text: "é".repeat(MAX_INPUT_BYTES / 2) }, OTHER)).toHaveLength(1);
  });
});

describe("checkInput() against the JSON Schema of a Cargo", () => {
  it("accepts valid input", () => {
    expect(detailsOf({ text: "", size: "small", tags: ["a"] }, OTHER)).toEqual([]);
  });
  it("names every invalid field with its path", () => {
    expect(detailsOf({ size: "huge", tags: ["a", 1, "b", 2], more: true }, OTHER)).toEqual([
      { path: "input.text", message: "is required" },
      { path: "input.more", message: "is not a field of this Cargo" },
      { path: "input.size", message: 'must be one of ["small","large"]' },
      { path: "input.tags.1", message: "must be string" },
      { path: "input.tags.3", message: "must be string" },
    ]);
  });
  it("starts paths with the field that the caller names", () => {
    expect(detailsOf({}, OTHER, "inputs.3")[0]?.path).toBe("inputs.3.text");
  });
  it("reports only the first error of a large input", () => {
    const tags = Array.from({ length: 50_000 }, () => 1);
    expect(detailsOf({ text: "", tags }, OTHER)).toEqual([{ path: "input.tags.0", message: "must be string" }]);
  });
  it("never treats an inherited member as one that was sent", () => {
    const inputSchema = { type: "object", required: ["toString"] };
    expect(detailsOf({}, { isChat: false, inputSchema })).toEqual([{ path: "input.toString", message: "is required" }]);
  });
  it("agrees with the chat check about valid chat input", () => {
    const json = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.double({ noNaN: true }), fc.constant([]));
    const message = fc.record({ role: fc.constantFrom("user", "king"), content: fc.oneof(fc.string(), json) });
    const input = fc.record(
      {
        prompt: json,
        messages: fc.array(message, { maxLength: 3 }),
        max_tokens: json,
        temperature: json,
        stop: fc.oneof(json, fc.array(fc.string(), { maxLength: 6 })),
        response_format: fc.oneof(json, fc.record({ type: fc.constantFrom("text", "json_object", "yaml") })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(input, (value) => {
        const byChat = detailsOf(value).length === 0;
        expect(detailsOf(value, { ...CHAT, isChat: false }).length === 0).toBe(byChat);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
