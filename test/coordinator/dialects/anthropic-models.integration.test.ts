import Anthropic, { BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../http/api.ts";
import { CARGOS, makeCargo } from "../http/api-catalog.ts";

const SLUGS = Array.from({ length: 25 }, (_, index) => `chat-${String(index).padStart(2, "0")}`);

let api: Api;
let client: Anthropic;
beforeEach(async () => {
  api = await Api.open();
  client = new Anthropic({ apiKey: api.key, baseURL: api.url, maxRetries: 0 });
});
afterEach(() => api[Symbol.asyncDispose]());

describe("GET /models for Anthropic's client", () => {
  it("returns the members that the client declares", async () => {
    const model = await client.models.retrieve("tiny");
    expect(model).toEqual({
      type: "model",
      id: "tiny",
      display_name: "Tiny",
      created_at: "2023-11-14T22:13:20.999Z",
      lifecycle: "active",
      deprecated_at: null,
      retires_at: null,
      line: null,
      max_input_tokens: 2_048,
      max_tokens: 2_048,
      capabilities: expect.objectContaining({
        image_input: { supported: false },
        structured_outputs: { supported: true },
        thinking: {
          supported: false,
          types: {
            adaptive: { supported: false },
            between_tools: { supported: false },
            disabled: { supported: true },
            enabled: { supported: false },
          },
        },
      }),
    });
    expect(model._request_id).toMatch(/./);
  });

  it("lists the chat Cargos", async () => {
    expect(CARGOS.map(({ slug }) => slug)).toContain("words");
    const { data, ...page } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(["second", "tiny"]);
    expect(page).toMatchObject({ has_more: false, first_id: "second", last_id: "tiny" });
    await expect(client.models.retrieve("words")).rejects.toBeInstanceOf(NotFoundError);
    expect((await client.models.list({ lifecycle: ["retired"] })).data).toEqual([]);
    expect((await client.models.list({ lifecycle: ["active", "retired"] })).data).toHaveLength(2);
  });

  it("returns pages in both directions", async () => {
    api.catalog.replace(SLUGS.map((slug) => makeCargo({ slug })));
    const idsOf = async (params: Anthropic.ModelListParams) => {
      const ids: string[][] = [];
      for await (const page of (await client.models.list(params)).iterPages()) ids.push(page.data.map(({ id }) => id));
      return ids;
    };
    expect(await idsOf({})).toEqual([SLUGS.slice(0, 20), SLUGS.slice(20)]);
    expect(await idsOf({ limit: 10, after_id: "chat-04" })).toEqual([SLUGS.slice(5, 15), SLUGS.slice(15)]);
    expect(await idsOf({ limit: 3, before_id: "chat-04" })).toEqual([SLUGS.slice(1, 4), SLUGS.slice(0, 1)]);
    expect(await idsOf({ limit: 1_000 })).toEqual([SLUGS]);
  });

  it.each([
    [{ limit: 0 }, "limit"],
    [{ limit: 1_001 }, "limit"],
    [{ after_id: "none" }, "after_id"],
    [{ before_id: "none" }, "before_id"],
    [{ after_id: "tiny", before_id: "second" }, "before_id"],
  ])("refuses %j and names %s", async (params, path) => {
    const asked = Promise.resolve(client.models.list(params));
    await expect(asked).rejects.toBeInstanceOf(BadRequestError);
    await expect(asked).rejects.toMatchObject({
      type: "invalid_request_error",
      error: { type: "error", error: { details: [{ path }] } },
    });
  });

  it("keeps OpenAI's format without the header", async () => {
    const { body } = await api.call("GET", "/models?limit=0", { base: "/v1" });
    expect(body).toMatchObject({ object: "list", data: [{ object: "model", created: 1_700_000_000 }, {}, {}] });
  });
});
