import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const CN = join(import.meta.dirname, "node_modules/@continuedev/cli/dist/cn.js");

const start =
  (provider: string) =>
  ({ url, key, model, prompt }: AgentRequest): CliOptions => {
    const entry = {
      name: "Atoll",
      provider,
      model,
      apiBase: `${url}/v1`,
      apiKey: "${{ secrets.ATOLL_API_KEY }}",
      roles: ["chat"],
    };
    const config = { name: "Atoll", version: "1.0.0", schema: "v1", models: [entry] };
    return {
      command: [process.execPath, CN, "--config", "config.yaml", "--auto", "-p", prompt],
      env: { ATOLL_API_KEY: key, CONTINUE_CLI_ENABLE_TELEMETRY: "0", CONTINUE_METRICS_ENABLED: "0" },
      // JSON is valid YAML.
      files: { "work/config.yaml": JSON.stringify(config) },
    };
  };

for (const [api, provider, ignored] of [
  ["chat", "openai"],
  ["messages", "anthropic", "messages[0].content[0].cache_control, system[0].cache_control, tools[11].cache_control"],
] as const) {
  testAgent({
    title: `Continue · ${api}`,
    start: start(provider),
    ...(ignored !== undefined && { ignored }),
    readNote: { name: "Bash", arguments: { command: "cat note.txt" } },
    wrongKey: /401|key/i,
    unknownModel: /no-such-model/,
    tooLong: /context|too long/i,
    // With Anthropic's API, the client's errors have no status, so it cannot recognize a 429.
    waitsFor429: provider === "openai",
  });
}
