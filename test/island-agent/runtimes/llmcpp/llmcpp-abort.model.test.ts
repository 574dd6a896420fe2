import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { PromptTokens } from "../../../../shared/output.ts";
import { collect, makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

const CONTEXT = 65_536;
/** About 36,000 tokens. */
const LONG_PROMPT = "Tell me a story of a boat. ".repeat(4_000);

/** The weights of tiny-islander, in a file that claims a longer context. */
function withLongContext(): Buffer {
  const file = readFileSync(TINY_ISLANDER);
  const key = "llama.context_length";
  const UINT32_TYPE_BYTES = 4;
  file.writeUInt32LE(CONTEXT, file.indexOf(key) + key.length + UINT32_TYPE_BYTES);
  return file;
}

/**
 * Reading the whole prompt takes minutes, so a test ends only if the rest is not read. The process is killed after 2 s.
 */
describe("llmcppRuntime() with a prompt of 36,000 tokens", () => {
  const folder = new ModelFolder();
  let llm: HostedCargo;
  beforeAll(async () => {
    const file = folder.write("long", withLongContext());
    llm = await makeRuntime({ sequences: 3 }).load(makeCargo({ contextTokens: CONTEXT }), file, NEVER);
  });
  afterAll(async () => {
    await llm[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** Aborts the run after several batches. Returns how much of the prompt was read. */
  async function abortedRun(input: Record<string, unknown>): Promise<PromptTokens | null> {
    const abort = new AbortController();
    let read: PromptTokens | null = null;
    const onPrompt = (prompt: PromptTokens): void => {
      read = prompt;
      if (prompt.done > 2_000) abort.abort(new Error("cancelled"));
    };
    const run = llm.run(makeRequest(input), () => {}, abort.signal, { onPrompt });
    await expect(run).rejects.toThrow("cancelled");
    return read;
  }

  const SUM = { prompt: "What is 7 plus 8?" };

  it.each([
    ["a chat", {}],
    [
      "one with a grammar, which the library's own chat generates",
      { response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "integer" } } } },
    ],
    ["one with probabilities", { logprobs: true }],
  ])("stops reading it when %s is aborted, and completes the next chat", async (_name, input) => {
    const { pid } = llm;
    const read = await abortedRun({ prompt: LONG_PROMPT, ...input });
    expect(read?.total).toBeGreaterThan(36_000);
    expect(read?.done).toBeLessThan(10_000);
    expect((await collect(llm, makeRequest(SUM))).text).toBe("7 plus 8 is 15.");
    expect(llm.pid).toBe(pid);
  });

  it("continues other chats when one of a batch is aborted", async () => {
    const completions = Promise.all(
      Array.from({ length: 6 }, () => collect(llm, { ...makeRequest(SUM), cacheKey: undefined })),
    );
    await Promise.all([abortedRun({ prompt: LONG_PROMPT }), abortedRun({ prompt: LONG_PROMPT })]);
    expect((await completions).map(({ text }) => text)).toEqual(Array.from({ length: 6 }, () => "7 plus 8 is 15."));
  });

  it("keeps the tokens that an aborted run has read for the next one", async () => {
    const prompt = `Once. ${LONG_PROMPT}`;
    await abortedRun({ prompt });
    let batches = 0;
    // The prompt has more tokens than a batch, of which only the last few are new.
    const request = makeRequest({ prompt: prompt.slice(0, 3_000), max_tokens: 1 });
    await llm.run(request, () => {}, NEVER, { onPrompt: () => (batches += 1) });
    expect(batches).toBe(1);
  });
});
