import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Cli } from "../support/cli.ts";
import { ClientNetwork } from "../support/client-network.ts";

const CLAUDE = join(
  import.meta.dirname,
  `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
);

let net: ClientNetwork;
beforeAll(async () => {
  net = await ClientNetwork.open();
});
beforeEach(() => net.recorder.clear());
afterAll(() => net[Symbol.asyncDispose]());

const ask = (model: string, prompt: string, ...args: string[]) => ({
  command: [CLAUDE, "-p", prompt, ...args] as const,
  env: {
    ANTHROPIC_BASE_URL: net.url,
    ANTHROPIC_API_KEY: net.key,
    ANTHROPIC_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  },
});

describe("Claude Code · messages", () => {
  it("chat", async () => {
    const { stdout } = await Cli.run(ask("scripted", "What is 7 plus 8?"));
    expect(stdout.trim()).toBe("All done.");
  });
});
