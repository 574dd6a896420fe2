import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const CLAUDE = join(
  import.meta.dirname,
  `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
);

function ask({ url, key, model, prompt }: AgentRequest, ...args: string[]): CliOptions {
  return {
    command: [CLAUDE, "-p", prompt, "--allowedTools", "Bash", ...args],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
  };
}

testAgent({
  title: "Claude Code · messages",
  start: ask,
  ignored:
    "messages[1].content[0].cache_control, system[1].cache_control, system[2].cache_control, tools[10].defer_loading, " +
    "metadata, thinking.display, context_management, output_config.effort",
  readNote: { name: "Bash", arguments: { command: "cat note.txt", description: "Print the note" } },
  wrongKey: /401|API key/,
  unknownModel: /no-such-model/,
  tooLong: /too long/,
  // After a 404 the client retries without a stream.
  attempts: { 404: 2 },
  structured: (request, schema) => ask(request, "--output-format", "json", "--json-schema", JSON.stringify(schema)),
});
