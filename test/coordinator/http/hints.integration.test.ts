import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "./api.ts";
import { completeWith } from "./scripted-chats.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
  completeWith(api, "Hello");
});
afterEach(() => api[Symbol.asyncDispose]());

const ASKED = { model: "tiny", max_tokens: 20, messages: [{ role: "user", content: "Hi" }] };
const post = (path: string, body: object) => api.call("POST", path, { body });

/** The default request of Claude Code 2.1. */
const CLAUDE_CODE = {
  ...ASKED,
  messages: [...ASKED.messages, { role: "system", content: "Be brief." }],
  metadata: { user_id: "someone" },
  thinking: { type: "adaptive", display: "omitted" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  output_config: { effort: "high" },
};

describe("ignored parameters", () => {
  it("are named in order in the header of a complete and a streamed response", async () => {
    const names = "metadata, thinking.display, context_management, output_config.effort";
    const whole = await post("/messages", CLAUDE_CODE);
    const streamed = await post("/messages", { ...CLAUDE_CODE, stream: true });
    expect([whole.status, whole.headers.get("atoll-ignored")]).toEqual([200, names]);
    expect([streamed.status, streamed.headers.get("atoll-ignored")]).toEqual([200, names]);
  });

  it("are stored with the job that ignores them", async () => {
    await post("/messages", CLAUDE_CODE);
    expect(api.jobs.submitted[0]?.ignoredParameters).toEqual([
      "metadata",
      "thinking.display",
      "context_management",
      "output_config.effort",
    ]);
  });

  it("are not listed if they are absent or request the default behaviour", async () => {
    const plain = await post("/messages", { ...ASKED, service_tier: "auto", speed: "standard", metadata: null });
    expect([plain.status, plain.headers.get("atoll-ignored")]).toEqual([200, null]);
  });

  it("name an entry by its index, and the list if there are many", async () => {
    const named = (count: number) =>
      Array.from({ length: count }, () => ({ role: "user", content: "Hi", name: "Ann" }));
    const ignoredOf = async (messages: object[]) =>
      (await post("/chat/completions", { messages })).headers.get("atoll-ignored");
    expect(await ignoredOf([{ role: "user", content: "Hi" }, ...named(1)])).toBe("messages[1].name");
    expect(await ignoredOf(named(8))).toContain("messages[7].name");
    expect(await ignoredOf(named(100))).toBe("messages[].name");
  });

  it("include an effort for a Cargo without reasoning", async () => {
    const effort = await post("/chat/completions", {
      messages: ASKED.messages,
      reasoning_effort: "xhigh",
      user: "Ann",
    });
    expect([effort.status, effort.headers.get("atoll-ignored")]).toEqual([200, "user, reasoning_effort"]);
    expect(api.jobs.submitted[0]?.input).not.toHaveProperty("reasoning_effort");
    expect(api.jobs.submitted[0]?.ignoredParameters).toEqual(["user", "reasoning_effort"]);
  });

  it("can be read by pages of other origins", async () => {
    const { headers } = await post("/messages", CLAUDE_CODE);
    expect(headers.get("access-control-expose-headers")).toContain("Atoll-Ignored");
  });
});

describe("a parameter that is not ignored", () => {
  it("is refused on Anthropic's paths in the wording that its clients know", async () => {
    const messages = async (body: object) => (await post("/messages", { ...ASKED, ...body })).body.error.message;
    expect(await messages({ mcp_servers: [] })).toBe("mcp_servers: Extra inputs are not permitted");
    expect(await messages({ thinking: { type: "adaptive", budget_tokens: 2_000 } })).toBe(
      'thinking.budget_tokens: is allowed only with the type "enabled"',
    );
    expect(await messages({ container: "c" })).toContain("container: Extra inputs are not permitted");
    expect(await messages({ messages: [{ role: "tool", content: "a" }] })).toBe(
      "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    );
  });
});
