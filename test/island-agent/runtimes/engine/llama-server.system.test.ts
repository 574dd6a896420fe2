import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../../shared/clock.ts";
import { makeTinyGguf } from "../../../support/models/tiny-gguf.ts";
import { makeTinyTextGguf } from "../../../support/models/tiny-text-gguf.ts";
import { LlamaServer } from "../../../support/servers/llama-server.ts";
import { NEVER } from "../../builders.ts";
import { EngineWorld } from "./engine-world.ts";

const TOOL_TEMPLATE =
  "{% if tools %}<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>{% endif %}" +
  "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] %}{{ m['content'] }}{% endif %}" +
  "{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>\n" +
  '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n' +
  "</tool_call>{% endfor %}{% endif %}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
const TIDE = {
  type: "function",
  function: {
    name: "get_tide",
    parameters: { type: "object", properties: { place: { enum: ["reef"] } }, required: ["place"] },
  },
};

let directory: string;
let server: LlamaServer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-llama-"));
  server = await LlamaServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** Writes a model file. */
async function fileOf(name: string, bytes: Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, bytes);
  return path;
}

const LONG = { prompt: "Tell me a story.", max_tokens: 1_000, temperature: 0, logit_bias: { "2": -100 } };
/** A model that never ends, slowly. */
const endless = (): Promise<string> =>
  fileOf("endless.gguf", makeTinyGguf({ width: 512, layers: 4, contextTokens: 8_192 }));

describe("a llama-server", () => {
  it("gives the same completion of the same chat at temperature 0", async () => {
    await using world = await EngineWorld.open(server.url, { slots: null });
    expect(world.engine.status()).toMatchObject({ name: "llama-server", state: "ready", slots: 4 });
    const chat = { prompt: "Count from 1 to 5.", temperature: 0, max_tokens: 30 };
    const { text, result } = await world.chat(chat);
    expect(text).toMatch(/^1/);
    expect(result.usage.completionTokens).toBeGreaterThan(5);
    expect((await world.chat(chat)).text).toBe(text);
  });

  it("continues a text where another Island stopped", async () => {
    await using world = await EngineWorld.open(server.url);
    const chat = { prompt: "Count from 1 to 9.", temperature: 0, max_tokens: 60 };
    const { text, result } = await world.chat(chat);
    const cut = text.slice(0, Math.floor(text.length / 2));
    let rest = "";
    const resumed = await world.load().run(
      { input: chat, resume: { text: cut, tokens: 5 } },
      (item) => {
        if (item.type === "token") rest += item.content;
      },
      NEVER,
    );
    expect(cut + rest).toBe(text);
    expect(resumed.finishReason).toBe(result.finishReason);
  });

  it("stops its work when a run is cancelled, as its counters show", async () => {
    await using slow = await LlamaServer.start({ model: await endless(), contextTokens: 8_192 });
    await using world = await EngineWorld.open(slow.url);
    const abort = new AbortController();
    const run = world.chat({ ...LONG, max_tokens: 4_000, logit_bias: {} }, abort.signal);
    await expect.poll(() => slow.running()).toBe(1);
    const beganMs = systemClock.monotonicMs();
    abort.abort(new Error("cancelled"));
    await expect(run).rejects.toThrow("cancelled");
    expect(systemClock.monotonicMs() - beganMs).toBeLessThan(2_000);
    await expect.poll(() => slow.running()).toBe(0);
  });

  it("is busy while its owner uses all its slots, and gets jobs again afterwards", async () => {
    await using slow = await LlamaServer.start({ model: await endless(), contextTokens: 8_192, slots: 2 });
    await using world = await EngineWorld.open(slow.url, { slots: null });
    const owner = new AbortController();
    const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }], max_tokens: 4_000, stream: true });
    const uses = Array.from({ length: 2 }, () =>
      fetch(`${slow.url}/v1/chat/completions`, { method: "POST", body, signal: owner.signal }),
    );
    await Promise.all(uses);
    await expect.poll(() => slow.running()).toBe(2);
    await world.engine.check();
    expect([world.engine.jobSlots === 0, world.engine.status()]).toMatchObject([
      true,
      { othersRunning: 2, running: 0, slots: 2 },
    ]);
    owner.abort();
    await expect.poll(() => slow.running()).toBe(0);
    await world.engine.check();
    expect([world.engine.jobSlots === 0, world.engine.status().othersRunning]).toEqual([false, 0]);
  });

  it("does not count the Island's own runs as its owner's", async () => {
    await using slow = await LlamaServer.start({ model: await endless(), contextTokens: 8_192 });
    await using world = await EngineWorld.open(slow.url, { slots: null });
    const abort = new AbortController();
    const runs = Array.from({ length: 4 }, () => world.chat({ max_tokens: 4_000 }, abort.signal));
    await expect.poll(() => slow.running()).toBe(4);
    await world.engine.check();
    expect([world.engine.jobSlots === 0, world.engine.status()]).toMatchObject([
      false,
      { running: 4, othersRunning: 0 },
    ]);
    abort.abort(new Error("cancelled"));
    await Promise.allSettled(runs);
  });

  it("has another identity after it was restarted with another model, even if only a job finds it", async () => {
    const model = await fileOf("says.gguf", makeTinyGguf({ says: ["one"] }));
    await using other = await LlamaServer.start();
    await using world = await EngineWorld.open(other.url);
    const [before] = world.engine.served;
    const cargo = world.load();
    await other.restart({ model });
    await expect(world.chat({}, NEVER, cargo)).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
    await cargo.gone;
    await expect.poll(() => world.engine.status().state).toBe("ready");
    const [after] = world.engine.served;
    expect(after?.key).toMatch(/^[0-9a-f]{64}$/);
    expect(after?.key).not.toBe(before?.key);
    expect((await world.chat({ temperature: 0 })).text).toBe("one");
  });

  it("fails its runs when it is killed, as when the machine has no memory left, and returns when it was started", async () => {
    await using killed = await LlamaServer.start({ model: await endless(), contextTokens: 8_192 });
    await using world = await EngineWorld.open(killed.url);
    const run = world.chat({ max_tokens: 4_000 });
    await expect.poll(() => killed.running()).toBe(1);
    killed.signal("SIGKILL");
    await expect(run).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
    await expect.poll(() => world.engine.status().state).toBe("unavailable");
    expect(world.engine.status().problem).toContain("ECONNREFUSED");
    await killed.restart();
    await expect.poll(() => world.engine.status().state).toBe("ready");
  });

  it("is unavailable while it is stopped, and its runs end", async () => {
    await using stopped = await LlamaServer.start({ model: await endless(), contextTokens: 8_192 });
    await using world = await EngineWorld.open(stopped.url);
    const run = world.chat({ max_tokens: 4_000 });
    await expect.poll(() => stopped.running()).toBe(1);
    stopped.signal("SIGSTOP");
    const ended = expect(run).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
    await world.engine.check();
    await world.engine.check();
    await ended;
    expect(world.engine.status().problem).toContain("within 5 s");
    stopped.signal("SIGCONT");
    await expect.poll(() => world.engine.status().state).toBe("ready");
    await expect.poll(() => stopped.running()).toBe(0);
  });

  it("is unavailable while it loads its model", async () => {
    await using world = await EngineWorld.open(server.url);
    await server.stop();
    const restarted = server.restart();
    const states = new Set<string | null>();
    const up = new AbortController();
    void restarted.then(() => up.abort());
    while (!up.signal.aborted) {
      await world.engine.check();
      const { state, name } = world.engine.status();
      states.add(state === "ready" ? name : state);
    }
    await restarted;
    await world.engine.check();
    states.add(world.engine.status().name);
    states.delete("unavailable");
    expect([...states]).toEqual(["llama-server"]);
  });

  it("calls the required tool, once if parallel calls are off, without text before it", async () => {
    // Only a whole token in angle brackets is a tag.
    const call = ["<tool_call>", '\n{"name": "get_tide",', ' "arguments": {"place": "reef"}}\n', "</tool_call>"];
    const model = await fileOf("calls.gguf", makeTinyGguf({ says: ["Well. ", ...call], chatTemplate: TOOL_TEMPLATE }));
    await using calls = await LlamaServer.start({ model });
    await using world = await EngineWorld.open(calls.url);
    expect(world.engine.served[0]?.model.lacks).toEqual([]);
    const chat = { tools: [TIDE], tool_choice: "required", parallel_tool_calls: false, temperature: 0, max_tokens: 50 };
    const { items, text, result } = await world.chat(chat);
    expect([text, result.finishReason]).toEqual(["", "tool_calls"]);
    const parts = items.map((item) => (item.type === "tool_call" ? item.arguments : ""));
    expect(items[0]).toMatchObject({ type: "tool_call", index: 0, name: "get_tide" });
    expect(JSON.parse(parts.join(""))).toEqual({ place: "reef" });
  });

  it("lacks tools if its model's template has none, as that of the demo model", async () => {
    await using world = await EngineWorld.open(server.url);
    expect(world.engine.served[0]?.model.lacks).toEqual(["tools"]);
  });

  it.each(["mean", "rank"] as const)("embeds or ranks texts, pooling %s", async (pooling) => {
    const model = await fileOf(`${pooling}.gguf`, makeTinyTextGguf({ pooling, contextTokens: 128 }));
    const flags = [pooling === "mean" ? "--embeddings" : "--reranking"];
    await using texts = await LlamaServer.start({ model, slots: 1, contextTokens: 128, flags });
    await using world = await EngineWorld.open(texts.url);
    if (pooling === "mean") {
      const request = { input: { input: ["the cat", "the dog barks"] }, resume: null };
      const { output } = await world.load({ task: "feature-extraction" }).run(request, () => undefined, NEVER);
      const vectors = (output as { embeddings: number[][] }).embeddings;
      expect(vectors.map((vector) => Math.hypot(...vector))).toEqual([expect.closeTo(1, 5), expect.closeTo(1, 5)]);
      expect(vectors[0]).not.toEqual(vectors[1]);
    } else {
      const request = { input: { query: "the cat", documents: ["the dog", "the sea"] }, resume: null };
      const { output } = await world.load({ task: "text-ranking" }).run(request, () => undefined, NEVER);
      const { scores } = output as { scores: number[] };
      expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
      expect(scores[0]).not.toBe(scores[1]);
    }
  });
});
