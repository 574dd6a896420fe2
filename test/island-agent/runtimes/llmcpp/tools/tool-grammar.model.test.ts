import { getLlama, type Llama, LlamaLogLevel } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolGrammars } from "../../../../../island-agent/runtimes/llmcpp/tools/tool-grammar.ts";
import type { ToolUse } from "../../../../../shared/chat-tools.ts";

const TEXT = { type: "text" } as const;

describe("ToolGrammars", () => {
  let llama: Llama;
  beforeAll(async () => {
    llama = await getLlama({
      gpu: false,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      maxThreads: 1,
      logLevel: LlamaLogLevel.error,
    });
  });
  afterAll(() => llama.dispose());

  const useOf = (harbour: string): ToolUse => ({
    tools: [{ name: "tide", description: null, parameters: { properties: { place: { const: harbour } } } }],
    isRequired: true,
    maxCalls: 1,
  });
  const readUse = (harbour: string): ToolUse => JSON.parse(JSON.stringify(useOf(harbour)));

  it("compiles the same tools once, and other tools or formats separately", async () => {
    const grammars = new ToolGrammars(llama);
    const reef = await grammars.get(useOf("reef"), TEXT);
    expect(await grammars.get(readUse("reef"), TEXT)).toBe(reef);
    expect((await grammars.get(useOf("bay"), TEXT)).grammar).not.toBe(reef.grammar);
    expect(await grammars.get({ ...useOf("reef"), maxCalls: 2 }, TEXT)).not.toBe(reef);
    const optional = { ...useOf("reef"), isRequired: false };
    const json = await grammars.get(optional, { type: "json_object" });
    expect((await grammars.get(optional, TEXT)).grammar).not.toBe(json.grammar);
  });

  it("evicts the least recently used tools", async () => {
    const grammars = new ToolGrammars(llama);
    const first = await grammars.get(useOf("reef"), TEXT);
    for (let at = 0; at < 8; at += 1) await grammars.get(useOf(`bay${at}`), TEXT);
    expect(await grammars.get(useOf("reef"), TEXT)).not.toBe(first);
  });
});
